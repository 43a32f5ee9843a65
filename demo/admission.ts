import { randomUUID } from 'node:crypto'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { elements, member, textMember } from '../functions/domain/json-value.ts'
import { GROUP, PLURALS, VERSION } from '../functions/domain/resource/api-names.ts'
import type { MemoryCluster, StoredObject } from '../test/harness/memory-cluster.ts'
import { applyPatch } from './json-patch.ts'

/** Where the webhook listens, who signed its certificate, and who applies. */
export interface AdmissionOptions {
  readonly cluster: MemoryCluster
  readonly webhook: string
  readonly caPEM: string
  readonly username: string
}

/** The result of a creation: stored, or denied with the webhook's message. Times are in milliseconds. */
export interface Creation {
  readonly denial: string | undefined
  readonly warnings: readonly string[]
  readonly mutateMs: number
  readonly validateMs: number
}

interface Reviewed {
  readonly denial: string | undefined
  readonly warnings: readonly string[]
  readonly patch: unknown
  readonly milliseconds: number
}

/**
 * Creates a GitCommit or PullRequest as the API server does: /mutate gets the object without uid, the patch is applied,
 * uid and generation are set, /validate gets the final object, and only then is it stored.
 */
export async function create(object: StoredObject, options: AdmissionOptions): Promise<Creation> {
  const mutated = await review('/mutate', object, options)
  const { warnings, denial } = mutated
  if (denial !== undefined) return { denial, warnings, mutateMs: mutated.milliseconds, validateMs: 0 }
  const patched = applyPatch(object, mutated.patch)
  const creationTimestamp = new Date().toISOString().replace(/\.\d+/, '')
  const metadata = { ...patched.metadata, uid: randomUUID(), generation: 1, creationTimestamp }
  const final = { ...patched, metadata }
  const validated = await review('/validate', final, options)
  if (validated.denial === undefined) options.cluster.apply(final)
  return {
    denial: validated.denial,
    warnings: [...warnings, ...validated.warnings],
    mutateMs: mutated.milliseconds,
    validateMs: validated.milliseconds,
  }
}

async function review(path: string, object: StoredObject, options: AdmissionOptions): Promise<Reviewed> {
  const started = performance.now()
  const answer = await post(path, reviewOf(object, options.username), options)
  const response = member(answer, 'response')
  const encoded = textMember(response, 'patch')
  const status = member(response, 'status')
  return {
    denial:
      member(response, 'allowed') === true
        ? undefined
        : (textMember(status, 'message') ?? textMember(answer, 'message') ?? 'no reason given'),
    warnings: elements(member(response, 'warnings')).map(String),
    patch: encoded === undefined ? [] : JSON.parse(Buffer.from(encoded, 'base64').toString()),
    milliseconds: performance.now() - started,
  }
}

/** An admission.k8s.io/v1 AdmissionReview of a creation. */
function reviewOf(object: StoredObject, username: string): unknown {
  const { kind, metadata } = object
  const resource = kind === 'PullRequest' ? PLURALS.PullRequest : PLURALS.GitCommit
  const versioned = { group: GROUP, version: VERSION }
  return {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: randomUUID(),
      kind: { ...versioned, kind },
      resource: { ...versioned, resource },
      requestKind: { ...versioned, kind },
      requestResource: { ...versioned, resource },
      name: metadata.name,
      namespace: metadata.namespace,
      operation: 'CREATE',
      userInfo: { username, groups: ['system:authenticated'] },
      object,
      oldObject: null,
      dryRun: false,
      options: { apiVersion: 'meta.k8s.io/v1', kind: 'CreateOptions' },
    },
  }
}

function post(path: string, body: unknown, { webhook, caPEM }: AdmissionOptions): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  // The API server also waits 10 s for a webhook.
  const options = { method: 'POST', ca: caPEM, agent: false, timeout: 10_000 }
  const sent = request(`${webhook}${path}?timeout=10s`, {
    ...options,
    headers: { 'content-type': 'application/json' },
  })
  sent.once('response', (response) => {
    text(response)
      .then((answer) => resolve(JSON.parse(answer)))
      .catch(reject)
  })
  sent.once('timeout', () => sent.destroy(new Error(`The webhook did not answer ${path} within 10 s.`)))
  sent.once('error', reject)
  sent.end(JSON.stringify(body))
  return promise
}
