import { createSecretKey, type KeyObject } from 'node:crypto'
import type { Authority } from '../repository/address.ts'
import { ENTRY_FORM, unsoundEntry } from '../repository/allowed-repositories.ts'
import type { Delegation } from '../requester/delegation.ts'
import type { SigningRules } from '../signing/operator-signing.ts'
import { readInsecureHosts } from '../repository/insecure-hosts.ts'
import { isObjectName } from '../resource/resource.ts'
import { SHORTEST_KEY } from '../requester/signature.ts'
import type { Environment } from '../settings.ts'
import { choice, list, orUndefined, text, WrongSetting } from '../settings.ts'
import { withoutUser } from '../redact.ts'

/** What the operator allows: the webhook and the function read the same settings and decide alike. */
export interface GateSettings extends SigningRules {
  /** `namespace`: only objects of the resource's own namespace may be referred to. */
  readonly referenceScope: 'namespace' | 'any'
  /** A comma-separated list as in the annotation of a Secret; undefined: any repository may be named. */
  readonly allowedRepositories: string | undefined
  /** Hosts for which plain http and unverified certificates are accepted. */
  readonly insecureHosts: readonly Authority[]
  readonly delegation: Delegation
  /** Key of the stamp's signature; undefined: nothing is signed or checked. From bytes, each HMAC would take six times as long. */
  readonly stampKey: KeyObject | undefined
  /** Keys that were replaced, and still verify. */
  readonly olderStampKeys?: readonly KeyObject[]
}

/** The warning of the webhook and the function at their start if there is no key. */
export const UNSIGNED =
  'STAMP_KEY_FILE is not set: the requester of a resource is neither signed nor verified, so anyone who bypasses the webhook can claim to be any user'

/** The keys that verify, the one that signs first; none without a key. */
export function stampKeysOf({
  stampKey,
  olderStampKeys = [],
}: Pick<GateSettings, 'stampKey' | 'olderStampKeys'>): readonly KeyObject[] {
  return stampKey === undefined ? [] : [stampKey, ...olderStampKeys]
}

/** Reads a file; throws if it cannot. */
export type ReadFile = (path: string) => Uint8Array

/** Reads the settings. Throws WrongSetting, one sentence, for a value that cannot be used. */
export function readGateSettings(env: Environment, readFile: ReadFile): GateSettings {
  const olderStampKeys = readOlderKeys(env, readFile)
  return {
    referenceScope: choice(env, 'REFERENCE_SCOPE', ['namespace', 'any']),
    allowedRepositories: readRepositories(env, 'ALLOWED_REPOSITORIES'),
    ...readSigningRules(env),
    insecureHosts: readInsecureHosts(env),
    delegation: { appliers: list(env, 'DELEGATED_APPLIERS'), account: readAccount(env) },
    stampKey: readStampKey(env, readFile),
    ...(olderStampKeys.length === 0 ? {} : { olderStampKeys }),
  }
}

function readSigningRules(env: Environment): SigningRules {
  const requireSigning = readRepositories(env, 'REQUIRE_SIGNING')
  const defaultSigning = readRepositories(env, 'DEFAULT_SIGNING_REPOSITORIES')
  return {
    ...(requireSigning === undefined ? {} : { requireSigning }),
    ...(defaultSigning === undefined ? {} : { defaultSigning }),
  }
}

function readRepositories(env: Environment, name: string): string | undefined {
  const allowed = text(env, name, undefined)
  const unsound = allowed === undefined ? undefined : unsoundEntry(allowed)
  if (unsound === undefined) return allowed
  throw new WrongSetting(
    `${name} has the entry "${withoutUser(unsound)}", but each has to be ${ENTRY_FORM}, such as git.example.com/acme.`,
  )
}

function readAccount(env: Environment): string {
  const account = text(env, 'DELEGATE_SERVICE_ACCOUNT', 'commitlet')
  if (isObjectName(account)) return account
  throw new WrongSetting(
    `DELEGATE_SERVICE_ACCOUNT is "${account}", but has to be the name of a service account alone, such as commitlet.`,
  )
}

// All bytes count, also a line end at the end of the file.
function readStampKey(env: Environment, readFile: ReadFile): KeyObject | undefined {
  const path = text(env, 'STAMP_KEY_FILE', undefined)
  if (path === undefined) return undefined
  const key = orUndefined(() => readFile(path))
  if (key !== undefined && key.length >= SHORTEST_KEY) return createSecretKey(key)
  throw new WrongSetting(
    `STAMP_KEY_FILE is "${path}", but has to be the path of a readable file of ${SHORTEST_KEY} bytes or more.`,
  )
}

/** Files of older keys that are read: `.1` to `.8`. */
const MOST_OLDER_KEYS = 8

/** The keys beside the file of the key, whose names end in `.1`, `.2` and so on; the first that is missing ends them. */
function readOlderKeys(env: Environment, readFile: ReadFile): readonly KeyObject[] {
  const path = text(env, 'STAMP_KEY_FILE', undefined)
  const keys: KeyObject[] = []
  if (path === undefined) return keys
  for (let number = 1; number <= MOST_OLDER_KEYS; number += 1) {
    const key = orUndefined(() => readFile(`${path}.${number}`))
    if (key === undefined) break
    if (key.length < SHORTEST_KEY)
      throw new WrongSetting(
        `"${path}.${number}", an older key beside STAMP_KEY_FILE, has to have ${SHORTEST_KEY} bytes or more; fix or remove it.`,
      )
    keys.push(createSecretKey(key))
  }
  return keys
}
