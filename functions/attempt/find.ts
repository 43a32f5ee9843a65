import { setTimeout as pause } from 'node:timers/promises'
import type { Cluster } from '../cluster/cluster.ts'
import { requestDigest } from '../domain/commit/commit-id.ts'
import { openFairPlaces } from '../domain/sharing/fair-places.ts'
import { makeFairSemaphore } from '../domain/sharing/semaphores/fair-semaphore.ts'
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

/** Bounds of finding resources. */
export interface FindBounds {
  /** Reads of the API server at once; further reads follow in the turns of their namespaces, each for one caller. */
  readonly reads: number
  /**
   * Calls that wait at once for an object that is not stored yet; further calls return what they read first. A caller gets no
   * more than it leaves free, and its namespaces share that in the same way.
   */
  readonly waits: number
}

/**
 * Reads resources from the API server. An event may arrive before its object is stored, so a missing or older object is
 * read again for up to 1 s. Where another one has its name, its creation was refused, and there is nothing to wait for.
 */
export function finder({ readResource }: Pick<Cluster, 'readResource'>, bounds: FindBounds): Find {
  const inTurn = makeFairSemaphore(bounds.reads, () => performance.now())
  const read: Find = (ref) => {
    const [, own = ref.namespace] = ownersOf(ref)
    return inTurn(own, async () => foundIn(await readResource(ref)))
  }
  const waits = openFairPlaces(bounds.waits)
  return async function find(ref) {
    const first = await read(ref)
    const leave = isOver(first, ref) ? undefined : waits.enter(ownersOf(ref))
    if (leave === undefined) return first
    try {
      return await waitFor(read, ref)
    } finally {
      leave()
    }
  }
}

/** Any caller may name any namespace: those of each are counted together. Who sends other events than the webhook is not known. */
function ownersOf({ namespace, caller }: ObjectRef): readonly [string, string?] {
  return caller === undefined ? [namespace] : [caller, `${caller} ${namespace}`]
}

async function waitFor(read: Find, ref: ObjectRef): Promise<Found | undefined> {
  let found: Found | undefined
  let waited = 0
  for (let wait = FIRST_PAUSE_MS; waited < MAX_WAIT_MS; wait *= 2) {
    await pause(Math.min(wait, MAX_WAIT_MS - waited))
    waited += wait
    found = await read(ref)
    if (isOver(found, ref)) return found
  }
  return found
}

function foundIn(whole: unknown): Found | undefined {
  return whole === undefined ? undefined : { envelope: envelopeOf(whole), whole }
}

/** Whether it is stored, or cannot be any more: the API server stores none in the place of another one. */
function isOver(found: Found | undefined, ref: ObjectRef): boolean {
  if (found === undefined) return false
  const { uid, generation } = found.envelope.metadata
  if (ref.uid !== undefined && ref.uid !== uid) return true
  if (ref.generation !== undefined && generation < ref.generation) return false
  return ref.request === undefined || requestDigest(requestedAt(found.envelope) ?? '') === ref.request
}
