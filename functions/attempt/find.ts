import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from '../cluster/cluster.ts'
import { requestDigest } from '../domain/commit/commit-id.ts'
import { requestedAt } from '../domain/resource/attempt-state.ts'
import { envelopeOf } from '../domain/resource/envelope.ts'
import type { Envelope, ObjectRef } from '../domain/resource/resource.ts'

/** Longest wait for an object that admission has seen but storage has not. */
const PATIENCE_MS = 1_000
const FIRST_PAUSE_MS = 4

/** A resource as it was read: its envelope, and the whole of it still to be checked. */
export interface Found {
  readonly envelope: Envelope
  readonly whole: unknown
}

/** Finds the resource that an event speaks of; undefined where it is not there. */
export type Find = (ref: ObjectRef) => Promise<Found | undefined>

/**
 * Reads resources afresh. An event may come before its object is stored, so a missing or older one is looked for
 * again for up to 1 s; at most `places` such waits at once, others take what they see first.
 */
export function finder(cluster: Cluster, places: number): Find {
  let waiting = 0
  return async function find(ref) {
    const first = await read(cluster, ref)
    if (isStored(first, ref) || waiting >= places) return first
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
  for (let wait = FIRST_PAUSE_MS; waited < PATIENCE_MS; wait *= 2) {
    await pause(Math.min(wait, PATIENCE_MS - waited))
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
