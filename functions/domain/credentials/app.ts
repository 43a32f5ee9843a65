import { createHash } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { Failure } from '../failure.ts'
import { FORMS, MAKE } from '../private-key/found-key.ts'
import { findKey } from '../private-key/private-key.ts'
import type { Credentials } from '../spec/spec.ts'
import { invalidSecret, requireType, shownKey } from './secret-keys.ts'
import type { SecretData } from './secret-keys.ts'
import { lineIn, valuesOf } from './secret-values.ts'

/** A GitHub App, which signs with its private key and is issued tokens for its installations. */
export interface App {
  /** Its App ID or client ID. */
  readonly id: string
  /** The number of the installation; undefined: the one at the repository. */
  readonly installation: string | undefined
  /** An RSA key whose sizes were checked. */
  readonly key: KeyObject
  /** Equal for the same private key; safe to keep in memory, never logged. */
  readonly keyDigest: string
  /** Identifies where it is stored. */
  readonly source: readonly string[]
  /** What names the place of each part: fields of the spec, or variables of the environment. */
  readonly places: Readonly<Record<keyof AppTexts, string>>
  /** How messages name it, at the beginning of a sentence. */
  readonly shown: string
  /** Values that must not be shown. */
  readonly secrets: readonly string[]
  /** It is the operator's, which several namespaces may use. */
  readonly ofOperator?: true
}

/** The texts that describe an App, as they are stored. */
export interface AppTexts {
  readonly id: string
  readonly installation: string | undefined
  readonly privateKey: Uint8Array
}

/** Which text is wrong, and how, as the rest of a sentence without its full stop. */
export type AppComplaint = readonly [text: keyof AppTexts, complaint: string]

type AppParts = Pick<App, 'id' | 'installation' | 'key' | 'keyDigest'>

const ID = /^(?:[1-9]\d{0,15}|Iv[A-Za-z0-9.]{4,60})$/
const INSTALLATION = /^[1-9]\d{0,15}$/
/** GitHub's have 2,048. Each request is signed, and with 8,192 bits that takes the processor for 35 ms or more. */
const MOST_BITS = 4_096
const GENERATED = 'the RSA key that GitHub has generated for the App'

/** The parts of an App in these texts, or what is wrong with one of them. Within 5 ms. */
export function readApp(texts: AppTexts): AppParts | AppComplaint {
  const { id, installation, privateKey } = texts
  if (!ID.test(id))
    return ['id', 'has to hold the App ID or the client ID of a GitHub App, such as 123456, but does not']
  if (installation !== undefined && !INSTALLATION.test(installation))
    return ['installation', 'has to hold the number of an installation, such as 12345678, but does not']
  const found = findKey(privateKey)
  if ('complaint' in found) return ['privateKey', ofApps(found.complaint)]
  const { key, pem } = found
  if (key.asymmetricKeyType !== 'rsa')
    return ['privateKey', `holds a key of another type than RSA, but has to hold ${GENERATED}`]
  const bits = key.asymmetricKeyDetails?.modulusLength ?? 0
  if (bits > MOST_BITS)
    return ['privateKey', `holds an RSA key of ${bits} bits, but has to hold ${GENERATED}`]
  return { id, installation, key, keyDigest: createHash('sha256').update(pem).digest('hex') }
}

/**
 * The App in a Secret, whose keys these credentials name.
 * @throws Failure CredentialsInvalid if the type is not supported, or a key is missing or cannot be used
 */
export function appIn(secret: SecretData, credentials: Credentials): App {
  requireType(secret)
  const keys = keysOf(credentials)
  const { id: idKey, installation: installationKey, privateKey: privateKeyKey } = keys
  const privateKey = secret.data.get(privateKeyKey)
  if (privateKey === undefined) {
    const shown = shownKey(privateKeyKey, 'privateKeyKey')
    throw invalidSecret(secret, `has no key ${shown}; add it, or name another in spec.credentials.`)
  }
  const id = lineIn(secret, idKey, 'appIDKey')
  const installation =
    installationKey === undefined ? undefined : lineIn(secret, installationKey, 'installationIDKey')
  const app = readApp({ id, installation, privateKey })
  if ('id' in app) {
    const shown = `The GitHub App of the Secret ${secret.namespace}/${secret.name}`
    const source = [secret.namespace, secret.name]
    return { ...app, source, places: FIELDS, shown, secrets: valuesOf(secret) }
  }
  const [text, complaint] = app
  throw refused(secret, shownKey(keys[text] ?? '', FIELDS[text]), complaint)
}

const FIELDS = { id: 'appIDKey', installation: 'installationIDKey', privateKey: 'privateKeyKey' } as const

type AppKeys = { readonly [K in keyof AppTexts]: K extends 'installation' ? string | undefined : string }

// Both are named wherever the gate has allowed the credentials.
function keysOf({ appIDKey = '', installationIDKey, privateKeyKey = '' }: Credentials): AppKeys {
  return { id: appIDKey, installation: installationIDKey, privateKey: privateKeyKey }
}

function refused({ namespace, name }: SecretData, shown: string, complaint: string): Failure {
  return new Failure(
    'CredentialsInvalid',
    `The key ${shown} of the Secret ${namespace}/${name} ${complaint}.`,
  )
}

/** Complaints about keys of SSH advise how to make one, but that of an App is GitHub's. */
function ofApps(complaint: string): string {
  return complaint.replace(`; ${MAKE}`, `; put ${GENERATED} there`).replace(FORMS, GENERATED)
}
