import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from '../cluster/cluster.ts'
import { requestDigest } from '../domain/commit/commit-id.ts'
import { requestedAt } from '../domain/resource/attempt-state.ts'
import { envelopeOf } from '../domain/resource/envelope.ts'
import type { Envelope, ObjectRef } from '../domain/resource/resource.ts'

/** Longest wait for a resource that was admitted but is not stored yet. */
const MAX_WAIT_MS = 1_000
const FIRST_PAUSE_MS = 4

/** A resource as it was read: its envelope, and the whole object, not validated yet. */
export interface Found {
  readonly envelope: Envelope
  readonly whole: unknown
}

/** Finds the resource that an event names; undefined if it does not exist. */
export type Find = (ref: ObjectRef) => Promise<Found | undefined>

/**
 * Reads resources from the API server. An event may arrive before its object is stored, so a missing or older object is
 * read again for up to 1 s. At most `maxWaiting` calls wait at once; further calls return what they read first.
 */
export function finder(cluster: Cluster, maxWaiting: number): Find {
  let waiting = 0
  return async function find(ref) {
    const first = await read(cluster, ref)
    if (isStored(first, ref) || waiting >= maxWaiting) return first
    waiting += 1
    try {
      return await waitFor(cluster, ref)
    } finally {
      waiting -= 1
    }
  }
}

async function waitFor(cluster: Cluster, ref: ObjectRef): Promise<Found | undefined> {
  let found: Found | undefined
  let waited = 0
  for (let wait = FIRST_PAUSE_MS; waited < MAX_WAIT_MS; wait *= 2) {
    await pause(Math.min(wait, MAX_WAIT_MS - waited))
    waited += wait
    found = await read(cluster, ref)
    if (isStored(found, ref)) return found
  }
  return found
}

async function read(cluster: Cluster, ref: ObjectRef): Promise<Found | undefined> {
  const whole = await cluster.readResource(ref)
  return whole === undefined ? undefined : { envelope: envelopeOf(whole), whole }
}

function isStored(found: Found | undefined, ref: ObjectRef): boolean {
  if (found === undefined) return false
  const { uid, generation } = found.envelope.metadata
  if (ref.uid !== undefined && ref.uid !== uid) return false
  if (ref.generation !== undefined && generation < ref.generation) return false
  return ref.request === undefined || requestDigest(requestedAt(found.envelope) ?? '') === ref.request
}
