import { createHash } from 'node:crypto'
import { makeAllowance } from '../../domain/sharing/allowance.ts'
import { makeAllowances } from '../../domain/sharing/allowances.ts'
import { openFairCache } from '../../domain/sharing/fair-cache.ts'
import { openFairPlaces } from '../../domain/sharing/fair-places.ts'
import { makeKeyedSemaphore } from '../../domain/sharing/semaphores/keyed-semaphore.ts'
import type { Release } from '../../domain/network/budget.ts'
import type { GitObject, ObjectId, ObjectKind } from '../objects/object.ts'
import type { Pace } from '../objects/pace.ts'
import { LARGEST_DIRECTORY } from '../tree.ts'

/** Takes bytes of the memory that all sessions share. Throws an error that isBusy knows if too few are left. */
export type Take = (bytes: number) => Release

/** What the sessions of one namespace share. */
export interface Share {
  readonly namespace: string
  readonly take: Take
  /** Whether so many bytes more may be read of a long list of refs; they are counted. */
  readonly allowLong: (bytes: number) => boolean
  /** Does work that holds the thread for long: one of them at a time. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>
}

/**
 * What sessions share: a bound on all of their memory, of which no namespace gets more than it leaves, and commits and trees,
 * of which a namespace that uses more than others loses its own. What an id names never changes, but who knows an id may not be
 * allowed to read the object: each owner has objects of its own.
 */
export interface Memory {
  shareOf(namespace: string): Share
  /** What is remembered for `owner`, as a session of the namespace uses it. */
  of(owner: string, namespace: string): Remembered
}

/** What is remembered for one owner. */
export interface Remembered {
  get(id: ObjectId): GitObject | undefined
  keep(objects: readonly GitObject[]): void
}

/** What one session has read and written, whatever the memory has forgotten meanwhile. */
export interface Objects {
  /** What it has found once it has until its end: it plans on that. @throws what Take throws */
  get(id: ObjectId): GitObject | undefined
  /** @throws what Take and the pace throw */
  keep(objects: readonly GitObject[], pace: Pace): Promise<void>
  /** Remembers objects that were written. */
  remember(objects: readonly GitObject[]): void
  /** Returns what the objects took. */
  close(): void
}

/** All trees of a repository of 100,000 files have some 5 MB. */
const REMEMBERED_BYTES = 24 * 1024 * 1024
/** What the open sessions may hold together: answers, packs and objects. */
const SHARED_BYTES = 128 * 1024 * 1024
/** The last eighth is for namespaces that hold so much: most sessions are small, and a few hostile servers fill the rest. */
const FEW_BYTES = 1024 * 1024
/**
 * Bytes of long lists of refs that a namespace may read at once, and in a second after that: a server may send them without end, and
 * reading 16 MiB takes 0.1 s of the thread.
 */
const LONG_LISTS = { most: 16 * 1024 * 1024, perSecond: 1024 * 1024 } as const
/** The same of what all share beyond that: over SSH a push lists all branches, and whoever may push can make very many. */
const LONG_LISTS_OF_ALL = { most: 64 * 1024 * 1024, perSecond: 16 * 1024 * 1024 } as const
/** What is taken at least at a time for objects that are found, or read, one after the other. */
const HELD_BYTES = 64 * 1024
/** What an object takes besides its bytes, in a pack that is read, in a session, and with its key in the memory. */
export const OBJECT_BYTES = 512

/**
 * Remembers up to 24 MiB of objects, those that were used last; beyond that, those of the namespace that has the most are
 * forgotten. Neither blobs nor what has more than 2 MiB is remembered. `elapsed`: milliseconds of a clock that is never set.
 */
export function openMemory(elapsed: () => number = () => performance.now()): Memory {
  const places = openFairPlaces(SHARED_BYTES, FEW_BYTES)
  const turns = makeKeyedSemaphore(1)
  const longLists = makeAllowances(LONG_LISTS.most, LONG_LISTS.perSecond, elapsed)
  const longListsOfAll = makeAllowance(LONG_LISTS_OF_ALL.most, LONG_LISTS_OF_ALL.perSecond, elapsed)
  const objects = openFairCache<GitObject>(
    REMEMBERED_BYTES,
    ({ body }, key) => body.length + key.length + OBJECT_BYTES,
  )
  return {
    shareOf: (namespace) => ({
      namespace,
      take: (bytes) => places.enter(namespace, bytes) ?? refuse(),
      allowLong(bytes) {
        const own = longLists.of(namespace)
        const taken = own.left() >= bytes ? own : longListsOfAll
        if (taken.left() < bytes) return false
        taken.spend(bytes)
        return true
      },
      inTurn: (work) => turns(namespace, work),
    }),
    of(owner, namespace) {
      // An owner may be long, and each key is hashed whenever it is looked up.
      const short = createHash('sha256').update(owner).digest('base64url')
      const keyOf = (id: ObjectId): string => `${id} ${short}`
      return {
        get: (id) => objects.get(namespace, keyOf(id)),
        keep(some) {
          for (const { kind, id, body } of some)
            if (isOfUse(kind, body) && objects.get(namespace, keyOf(id)) === undefined)
              objects.set(namespace, keyOf(id), { kind, id, body: compact(body) })
        },
      }
    },
  }
}

/** Whose objects a session has. */
export interface ObjectsOwner {
  /** Stands for the repository and the login: sessions of no other see its objects. */
  readonly owner: string
  readonly namespace: string
  readonly take: Take
}

/** The objects of a new session. */
export function openObjects(memory: Memory, { owner, namespace, take }: ObjectsOwner): Objects {
  const own = new Map<ObjectId, GitObject>()
  const remembered = memory.of(owner, namespace)
  const releases: Release[] = []
  const found = holdOf(take)

  function hold(object: GitObject): void {
    found.more(object.body.length + OBJECT_BYTES)
    own.set(object.id, object)
  }

  return {
    get(id) {
      const object = own.get(id) ?? remembered.get(id)
      if (object !== undefined && !own.has(id)) hold(object)
      return object
    },
    async keep(objects, pace) {
      releases.push(take(objects.reduce((sum, { body }) => sum + body.length + OBJECT_BYTES, 0)))
      for (const object of objects) {
        own.set(object.id, object)
        remembered.keep([object])
        await pace(object.body.length)
      }
    },
    remember: (objects) => remembered.keep(objects),
    close() {
      for (const release of releases) release()
      found.release()
      own.clear()
    },
  }
}

/** What is held of the memory that all sessions share. */
export interface Hold {
  /** @throws what Take throws */
  readonly more: (bytes: number) => void
  readonly release: Release
}

/** Nothing yet; it grows in pieces of 64 KiB at least. */
export function holdOf(take: Take): Hold {
  const releases: Release[] = []
  let room = 0
  return {
    more(bytes) {
      if (bytes > room) {
        const more = Math.max(bytes, HELD_BYTES)
        releases.push(take(more))
        room += more
      }
      room -= bytes
    },
    release() {
      for (const release of releases.splice(0)) release()
    },
  }
}

/** Whether an error means only that the other sessions hold too much at this moment. */
export function isBusy(error: unknown): boolean {
  return error instanceof Error && error.name === BUSY
}

// Not a code: an error with one is taken for one of the network.
const BUSY = 'Busy'

function refuse(): never {
  throw Object.assign(new Error('too little memory is left at the moment'), { name: BUSY })
}

/** A larger tree is for the git binary. And what is larger would have 30,000 small objects forgotten at once, which takes 0.1 s and more. */
function isOfUse(kind: ObjectKind, { length }: Buffer): boolean {
  return (kind === 'commit' || kind === 'tree') && length <= LARGEST_DIRECTORY
}

// A part of a larger buffer would keep all of that.
function compact(body: Buffer): Buffer {
  if (body.buffer.byteLength <= body.length * 2) return body
  const copy = Buffer.allocUnsafeSlow(body.length)
  body.copy(copy)
  return copy
}
