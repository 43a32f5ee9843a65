import { Failure } from '../domain/failure.ts'
import { entries, member, textMember } from '../domain/json-value.ts'
import { countParts } from '../domain/network/json-parts.ts'
import { openKeyedTurns } from '../domain/sharing/keyed-turns.ts'
import type { ApiServer } from './api-server.ts'
import { bodyOf, versionOf } from './calls/answer.ts'
import { ended, type ApiAnswer } from './calls/exchange.ts'
import type { LargeReads } from './calls/large-reads.ts'
import type { Cluster, Secret } from './cluster.ts'
import { objectPath } from './discovery.ts'

/**
 * Secrets of a namespace that are read at once. To receive one of 1 MiB takes some 10 ms of the thread, all of them in one turn
 * of the event loop if they arrive together.
 */
export const OF_NAMESPACE = 2

/** Fields of a Secret, those that the API server manages included: more than three for each key. */
const SECRET_PARTS = 10_000

/**
 * Reads Secrets, for each namespace of readers so many at once, until they are parsed, and large ones of all namespaces in the turns
 * of `large`: ten namespaces would receive twenty of 1 MiB together. Who waits, or is not answered yet, stops with the signal.
 * `elapsed`: milliseconds of a clock that is never set.
 */
export function shareSecretReads(
  server: ApiServer,
  large: LargeReads,
  elapsed: () => number,
): Cluster['readSecret'] {
  const inShare = openKeyedTurns(OF_NAMESPACE, elapsed)
  return async function readSecret(namespace, name, by) {
    const call = { method: 'GET', path: objectPath('v1', 'secrets', { namespace, name }) } as const
    if (by === undefined) return secretIn(await server(call), namespace, name)
    const { signal, inTurn } = by
    return inShare({ key: namespace, owner: namespace, signal, late: ended }, async () => {
      const answer = await large({ namespace, signal })({ ...call, signal })
      return inTurn(() => secretIn(answer, namespace, name))
    })
  }
}

function secretIn(answer: ApiAnswer, namespace: string, name: string): Secret {
  const what = `Secret ${namespace}/${name}`
  // A Secret of 1 MiB may have 100,000 keys, which would take a second to read.
  if (countParts(answer.text, { parts: SECRET_PARTS }) === undefined) {
    const most = SECRET_PARTS.toLocaleString('en-GB')
    const message = `The ${what} has more than ${most} keys and other fields, which is the limit; use a smaller Secret.`
    throw new Failure('CredentialsInvalid', message)
  }
  const body = bodyOf(answer, what, 'secretName in the spec')
  const metadata = member(body, 'metadata')
  const isSecret = member(body, 'kind') === 'Secret' && member(metadata, 'name') === name
  if (!isSecret || member(metadata, 'namespace') !== namespace) {
    throw new Failure(
      'ReferenceForbidden',
      `The API server answered with something other than ${what}; nothing was read.`,
    )
  }
  const annotations = entries(member(metadata, 'annotations')).map(
    ([key, value]) => [key, String(value)] as const,
  )
  const data = entries(member(body, 'data')).map(
    ([key, value]) => [key, Buffer.from(String(value), 'base64')] as const,
  )
  return {
    namespace,
    name,
    type: textMember(body, 'type') ?? 'Opaque',
    version: versionOf(metadata),
    annotations: Object.fromEntries(annotations),
    data: new Map<string, Uint8Array>(data),
  }
}
