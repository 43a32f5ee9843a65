import pino from 'pino'
import { connectCluster } from '../../functions/cluster/connect.ts'
import { WITHOUT_TOKEN } from '../../functions/domain/credentials/app-login.ts'
import { loginFor } from '../../functions/domain/credentials/login-for.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { readPosted } from '../../functions/domain/event/posted.ts'
import { countParts } from '../../functions/domain/network/json-parts.ts'
import { readKnownHosts } from '../../functions/domain/network/known-hosts.ts'
import { findOpenPGPKey } from '../../functions/domain/openpgp/find-key.ts'
import { readPrivateKey } from '../../functions/domain/private-key/private-key.ts'
import { readFetched } from '../../functions/git/protocol/fetch.ts'
import { readListedRefs } from '../../functions/git/protocol/ls-refs.ts'
import { isProtocolError } from '../../functions/git/protocol/protocol-error.ts'
import { readAdvertisedRef, readPushReport } from '../../functions/git/protocol/receive-pack.ts'
import { parseRepositoryAddress } from '../../functions/domain/repository/address.ts'
import { targetOf } from '../../functions/domain/repository/target.ts'
import { mutate, validate } from '../../webhook/admission/admission.ts'
import { foreignSignature } from '../../webhook/admission/responses.ts'
import { readReview } from '../../webhook/admission/review.ts'
import { admissionOver, clusterWith } from '../webhook/admission/stage.ts'
import { gitCommit, reviewOf, stamped } from '../webhook/stage.ts'
import {
  APPLIED,
  ATTRIBUTES,
  AUDITED,
  EVENTS,
  KEYS,
  KNOWN_HOSTS,
  LINES,
  OPENPGP_KEYS,
  REF,
  SECRETS,
} from './valid-inputs.ts'

/** A place where something comes in from outside. */
export interface Entry {
  readonly entry: string
  /** What is changed. */
  readonly valid: readonly Buffer[]
  /** Reads what was made from that one as the program does, and throws what `isRefusal` knows. */
  readonly read: (bytes: Buffer, index: number) => unknown
}

const SILENT = pino({ level: 'silent' })
const rest = (): Promise<void> => Promise.resolve()

function json(...values: readonly unknown[]): readonly Buffer[] {
  return values.map((value) => Buffer.from(JSON.stringify(value)))
}

const cluster = clusterWith()
const admission = admissionOver({ cluster, log: SILENT })

async function review(bytes: Buffer): Promise<void> {
  const text = bytes.toString()
  if (countParts(text, { parts: 50_000 }) === undefined) return
  const value = parsed(text)
  if (value === undefined) return
  const request = readReview(value)
  cluster.reviews.length = 0
  for (const decide of [mutate, validate]) {
    const { denial } = await decide(request, admission)
    // A stamp that names another generation is to be tried again: a replica of another version may have made it.
    const isBug = denial !== undefined && denial.code >= 500 && denial.message !== foreignSignature().message
    if (isBug) throw new Error(`${denial.code}: ${denial.message}`)
  }
}

/** Undefined: not JSON, for which the webhook answers 400. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function posted(type: string): (bytes: Buffer) => unknown {
  return (bytes) => readPosted({ 'content-type': type }, bytes, rest)
}

function event(type: string): (bytes: Buffer) => unknown {
  const attributes = Object.entries({ ...ATTRIBUTES, type }).map(([name, value]) => [`ce-${name}`, value])
  const headers = { 'content-type': 'application/json', ...Object.fromEntries(attributes) }
  return (bytes) => readPosted(headers, bytes, rest)
}

async function secret(bytes: Buffer): Promise<void> {
  const text = bytes.toString()
  const answering = connectCluster(() => Promise.resolve({ status: 200, text }))
  const found = await answering.readSecret('shop', 'git')
  for (const address of ['https://git.example.com/acme/shop.git', 'git@git.example.com:acme/shop.git']) {
    const target = targetOf('GitCommit', parseRepositoryAddress(address))
    const use = {
      target,
      credentials: { secretName: 'git' },
      operatorHostKeys: undefined,
      tokenFor: WITHOUT_TOKEN,
    }
    await loginFor('git', use, found).catch(ignoreFailure)
  }
}

function ignoreFailure(error: unknown): void {
  if (!isRefusal(error)) throw error
}

/** Whether this is how the programs refuse an input: a Failure that is no bug, or a ProtocolError. */
export function isRefusal(error: unknown): boolean {
  if (error instanceof Failure) return error.reason !== 'Internal'
  return (['TRUNCATED', 'REMOTE', 'TOO_MANY', 'UNEXPECTED'] as const).some((code) =>
    isProtocolError(error, code),
  )
}

/** Each of the readers throws on the answers of the others. */
function lines(bytes: Buffer): void {
  const readers = [
    () => readListedRefs(bytes, [REF]),
    () => readAdvertisedRef(bytes, REF),
    () => readFetched(bytes),
    () => readPushReport(bytes, REF),
  ]
  for (const read of readers) {
    try {
      read()
    } catch (error) {
      ignoreFailure(error)
    }
  }
}

/** What is posted to the two programs, what the API server answers, and what Git servers send. */
export const ENTRIES: readonly Entry[] = [
  {
    entry: 'AdmissionReview',
    valid: json(
      reviewOf(gitCommit()),
      reviewOf(stamped({ generation: 2 }), { operation: 'UPDATE', oldObject: stamped() }),
      reviewOf(gitCommit({}, { fallbackCredentials: { secretName: 'b' }, provider: 'gitea' })),
    ),
    read: review,
  },
  { entry: 'CloudEvent', valid: json(APPLIED), read: event('dev.commitlet.gitcommit.applied') },
  {
    entry: 'CloudEvent of Knative',
    valid: json(stamped()),
    read: event('dev.knative.apiserver.resource.update'),
  },
  { entry: 'structured CloudEvent', valid: json(...EVENTS), read: posted('application/cloudevents+json') },
  { entry: 'batch', valid: json(EVENTS), read: posted('application/cloudevents-batch+json') },
  {
    entry: 'EventList',
    valid: json({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', items: [AUDITED, AUDITED] }),
    read: posted('application/json'),
  },
  { entry: 'Secret', valid: json(...SECRETS), read: secret },
  {
    entry: 'known_hosts',
    valid: KNOWN_HOSTS,
    read: (bytes) => readKnownHosts(bytes.toString(), { host: 'git.example.com', port: undefined }),
  },
  {
    entry: 'private key',
    valid: KEYS,
    read: (bytes) => readPrivateKey(bytes, { secret: 'shop/git', key: 'key' }),
  },
  { entry: 'OpenPGP key', valid: OPENPGP_KEYS, read: findOpenPGPKey },
  { entry: 'pkt-lines', valid: Object.values(LINES), read: lines },
]
