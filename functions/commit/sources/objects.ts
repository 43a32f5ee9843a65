import type { Cluster } from '../../cluster/cluster.ts'
import { anySignal, requireTime, unlessAborted } from '../../domain/deadline.ts'
import { Failure } from '../../domain/failure.ts'
import { meantKind } from '../../domain/gate/meant-kind.ts'
import { kindOf, type ServedKinds } from '../../domain/gate/references.ts'
import { isMapping, type Mapping } from '../../domain/manifest/json-node.ts'
import { readRequested, type RequestedObject } from '../../domain/manifest/manifest.ts'
import { ownCopy } from '../../domain/own-copy.ts'
import type { ReferenceField } from '../../domain/spec/spec.ts'
import { MISSING } from '../../domain/resource/waiting.ts'
import { LARGE, type LargeObjects } from './large-objects.ts'
import type { Objects, Place, Room, Share } from './source.ts'

/** Objects that are read at the same time; what one takes while it is read is in functions/attempt/turns/cost.ts. */
export const SIDE_BY_SIDE = 8

/** Where objects are read, and what the gate has reviewed. */
export interface Reading {
  readonly cluster: Pick<Cluster, 'readObject'>
  readonly served: ServedKinds
  /** The resource's own. */
  readonly namespace: string
  /** Told what is read for a field: the version of its object, or MISSING for one that is not there, or whose kind is not. */
  readonly saw: (field: ReferenceField, version: string) => void
  readonly share: Share
  readonly room: Room
  readonly large: LargeObjects
  /** Nothing more is read once it has fired. */
  readonly signal: AbortSignal
}

/** An object as it was read. */
interface Read {
  readonly object: Mapping
  readonly requested: RequestedObject
}

/** What is in memory of an object, until it has to give way to others. */
interface Kept {
  /** Undefined once it was parsed. */
  parse: (() => Read) | undefined
  read: Read | undefined
}

/** One who has asked for an object. `take` throws Timeout where the object is gone; nothing else of these throws. */
interface Asker {
  readonly take: (kept: Kept) => Promise<void>
  readonly fail: (error: unknown) => void
}

/**
 * Reads each object once for all who ask for it before it is here. At most eight are in memory as text, and one of them parsed
 * (which takes up to thirty times as much) until all who have asked for it are done. Of large ones there are few in the pod.
 */
export function openObjects(parts: Reading): Objects {
  const { cluster, served, namespace, saw, share, room, large, signal } = parts
  const reading = new Map<string, Asker[]>()
  const lanes: Promise<void>[] = Array.from({ length: SIDE_BY_SIDE }, () => Promise.resolve())
  let started = 0
  let handedOut = Promise.resolve<unknown>(undefined)

  /** Reads the text of an object, and returns how to parse it. Throws NotSupported if it has more than `most` bytes. */
  async function read(
    { field, reference }: Place,
    most?: number,
    until: AbortSignal = signal,
  ): Promise<() => Read> {
    room.check()
    requireTime(signal, outOfTime)
    const kind = served.get(kindOf(reference))
    if (kind === undefined) {
      saw(field, MISSING)
      throw unknownKind(field, reference)
    }
    const asked = { ...reference, namespace: reference.namespace ?? namespace }
    const text = await cluster
      .readObject(asked, kind, { namespace, signal: until, most })
      .catch((error: unknown) => {
        if (error instanceof Failure && error.reason === 'ReferenceNotFound') saw(field, MISSING)
        throw error
      })
    const requested = { ...asked, namespace: kind.namespaced ? asked.namespace : undefined }
    return () => ({ object: readRequested(text, requested), requested })
  }

  /** The same; undefined if it is large. */
  async function readSmall(place: Place): Promise<(() => Read) | undefined> {
    return read(place, LARGE).catch((error: unknown) => {
      if (error instanceof Failure && error.reason === 'NotSupported') return undefined
      throw error
    })
  }

  /** After all that were read before it. */
  function handOut(key: string, kept: Kept, askers: readonly Asker[]): Promise<void> {
    reading.delete(key)
    const handed = handedOut.then(async () => {
      kept.read = await share(() => here(kept.parse)())
      kept.parse = undefined
      for (const { take } of askers) await take(kept)
    })
    handedOut = handed.catch(() => undefined)
    return handed
  }

  async function serveLarge(place: Place, key: string, askers: readonly Asker[]): Promise<void> {
    large.add(key)
    const work = async (othersWait: AbortSignal): Promise<void> => {
      const until = anySignal([signal, othersWait])
      const kept: Kept = { parse: await read(place, undefined, until), read: undefined }
      try {
        await unlessAborted(handOut(key, kept, askers), othersWait, gaveWay)
      } finally {
        // What waits for the share of the thread keeps nothing of it.
        Object.assign(kept, { parse: undefined, read: undefined })
      }
    }
    await large.inTurn(namespace, signal, work).catch((error: unknown) => {
      throw error instanceof Failure || !signal.aborted ? error : outOfTime(error)
    })
  }

  async function serve(place: Place, key: string, askers: readonly Asker[]): Promise<void> {
    try {
      room.check()
      const parse = large.has(key) ? undefined : await readSmall(place)
      if (parse === undefined) await serveLarge(place, key, askers)
      else await handOut(key, { parse, read: undefined }, askers)
    } catch (error) {
      reading.delete(key)
      for (const { fail } of askers) fail(error)
    }
  }

  function askersOf(place: Place): Asker[] {
    const { apiVersion, kind, name, namespace: of = namespace } = place.reference
    const key = JSON.stringify([apiVersion, kind, of, name])
    const known = reading.get(key)
    if (known !== undefined) return known
    const askers: Asker[] = []
    reading.set(key, askers)
    const lane = started++ % SIDE_BY_SIDE
    lanes[lane] = (lanes[lane] ?? Promise.resolve()).then(() => serve(place, key, askers))
    return askers
  }

  return {
    read<T>(place: Place, use: (object: Mapping, requested: RequestedObject) => T): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      askersOf(place).push({
        take(kept) {
          saw(place.field, versionIn(here(kept.read).object))
          const useNow = (): T => {
            const { object, requested } = here(kept.read)
            return use(object, requested)
          }
          return share(useNow).then(resolve, reject)
        },
        fail: reject,
      })
      return promise
    },
  }
}

/** What is still in memory. */
function here<T>(kept: T | undefined): T {
  if (kept === undefined) throw gaveWay()
  return kept
}

/** As `readVersion` of the cluster tells it. */
function versionIn(object: Mapping): string {
  const metadata = object.get('metadata')
  const [uid, version] = ['uid', 'resourceVersion'].map((key) =>
    isMapping(metadata) ? metadata.get(key) : '',
  )
  // Of the text of the object it is a part, which would keep all of that in memory to the end of the attempt.
  return ownCopy(`${typeof uid === 'string' ? uid : ''}/${typeof version === 'string' ? version : ''}`)
}

/** The Failure of objects that were not read before the attempt's time was over. */
export function outOfTime(cause: unknown): Failure {
  const message =
    'The attempt ran out of time before all objects of the spec were read; Commitlet retries automatically.'
  return new Failure('Timeout', message, { cause })
}

function gaveWay(): Failure {
  const message =
    'An object of more than 1.5 MiB was in memory for more than 5 s, and gave way to those of namespaces that waited for that; Commitlet retries automatically.'
  return new Failure('Timeout', message)
}

function unknownKind(field: string, { kind, apiVersion }: Place['reference']): Failure {
  const meant = meantKind(apiVersion, kind)
  const advice = meant === undefined ? `install it or fix ${field}` : `write ${meant} in ${field}`
  const message = `The cluster does not know the kind ${kind} of ${apiVersion} (yet); ${advice}.`
  return new Failure('ReferenceNotFound', message)
}
