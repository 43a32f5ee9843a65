import type { KeyObject } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { Cluster } from '../cluster/cluster.ts'
import { requestDigest } from '../domain/commit/commit-id.ts'
import { errorLogFields } from '../domain/error-log-fields.ts'
import { requestedAt } from '../domain/resource/attempt-state.ts'
import { refOf } from '../domain/resource/envelope.ts'
import type { Envelope, ObjectRef } from '../domain/resource/resource.ts'
import { awaitedBy, looksUntil, versionOf } from '../domain/resource/waiting.ts'
import type { Parsed } from '../domain/schema/parse.ts'
import { openFairPlaces } from '../domain/sharing/fair-places.ts'
import type { Looks } from '../world.ts'
import { look, objectNamed } from './look.ts'
import { countLooks } from './look-share.ts'
import { makeSchedule } from './schedule.ts'
import { makeWaitList } from './wait-list.ts'
import type { Expectation, Wait, Waiter, Watched } from './wait-list.ts'
import { makeWoken } from './woken.ts'

/** What looking needs of the outside. */
export interface LooksParts {
  readonly cluster: Pick<Cluster, 'discover' | 'readVersion'>
  /** Handles the resource: what its attempt of this `lastAttemptTime` waited for has changed. */
  readonly wake: (ref: ObjectRef, awaited: string) => Promise<void>
  /** The API server's time. */
  readonly now: () => Date
  /** Milliseconds of a clock that is never set. */
  readonly elapsed: () => number
  /** Calls `work` every so many milliseconds until the result is called. Default: a timer. */
  readonly every?: (milliseconds: number, work: () => void) => () => void
  readonly stampKey: KeyObject | undefined
  readonly log: Logger
}

/** Looks until they are closed, which waits for the attempts that they have started. */
export interface OpenLooks extends Looks {
  readonly close: () => Promise<void>
}

/** 50 looks a second, of which some wait for their answers. */
const TICK_MS = 100
const LOOKS_OF_TICK = 5
/** Resources that are looked after. One namespace alone gets half of the places. */
const MOST_RESOURCES = 24_000
/** The last 3,000 are for namespaces with so many. */
const FEW_RESOURCES = 100

/** Resources that are told in one turn of the event loop, which takes some milliseconds: 12,000 may wait for one object. */
const TOLD_AT_ONCE = 200

/** Opens the looks; see `Looks`. Nothing runs while nobody waits. */
export function openLooks(parts: LooksParts): OpenLooks {
  const { cluster, now, elapsed, stampKey, log, every = repeat } = parts
  const schedule = makeSchedule<Watched>(elapsed)
  const list = makeWaitList(schedule)
  const places = openFairPlaces(MOST_RESOURCES, FEW_RESOURCES)
  const woken = makeWoken()
  const underWay = countLooks()
  let stop: (() => void) | undefined
  let closed = false

  function tick(): void {
    for (let looks = 0; looks < LOOKS_OF_TICK && underWay.hasRoom(); looks += 1) {
      const watched = schedule.take(underWay.hasShare)
      if (watched === undefined) break
      void lookAt(watched)
    }
    if (!schedule.isEmpty()) return
    stop?.()
    stop = undefined
  }

  async function lookAt(watched: Watched): Promise<void> {
    // Those who come later may have seen a newer version.
    const present = [...watched.waiters].filter(([waiter]) => !isOver(waiter))
    if (present.length > 0) {
      watched.isLookedAt = true
      const { owner, named } = watched
      const leave = underWay.enter(owner, named.apiVersion)
      const state = await look(named, owner, cluster).catch(() => undefined)
      leave()
      if (state !== undefined) await tellAll(present, watched, state)
      watched.isLookedAt = false
    }
    list.putBack(watched)
  }

  async function tellAll(
    waiters: readonly (readonly [Waiter, Expectation])[],
    watched: Watched,
    state: string,
  ): Promise<void> {
    for (const [index, [waiter, expected]] of waiters.entries()) {
      if (index > 0 && index % TOLD_AT_ONCE === 0) await nextTurn()
      tell(waiter, { watched, expected, state })
    }
  }

  function isOver(waiter: Waiter): boolean {
    const over = (waiter.until ?? Infinity) <= now().getTime()
    if (over) list.remove(waiter)
    return over
  }

  function tell(waiter: Waiter, seen: Seen): void {
    const { watched, expected, state } = seen
    if (!watched.waiters.has(waiter)) return
    if (!isExpected(expected, state, waiter.ref.uid)) {
      wake(waiter)
      return
    }
    expected.state = state
    if (waiter.until !== undefined) return
    list.unwatch(waiter, watched)
    if (waiter.watched.size === 0) list.remove(waiter)
  }

  function isExpected(expected: Expectation, state: string, uid: string): boolean {
    const { field, version } = expected
    return expected.state === state || versionOf(field, state, { uid, key: stampKey }) === version
  }

  function wake(waiter: Waiter): void {
    const { ref, awaited } = waiter
    list.unwatch(waiter)
    woken.start(ref.namespace, async () => {
      await parts.wake(ref, awaited).catch((error: unknown) => {
        // A sweep names the resource again.
        log.warn({ resource: ref, origin: errorLogFields(error) }, 'nothing could be written')
      })
      list.remove(waiter)
    })
  }

  function add(envelope: Envelope, parsed: Parsed, asked: boolean): void {
    const { lastAttemptTime: awaited } = envelope.status ?? {}
    const until = looksUntil(envelope.status)
    const isRepeated = until !== undefined && until > now().getTime()
    if (closed || awaited === undefined || !(asked || isRepeated)) return
    const waits = waitsOf(envelope, parsed, now())
    const ref = identityOf(envelope)
    const before = list.find(ref)
    if (before?.awaited === awaited) {
      list.ask(before)
      return
    }
    if (before !== undefined) list.remove(before)
    const leave = waits.length === 0 ? undefined : places.enter(ref.namespace)
    if (leave === undefined) return
    const waiter = { ref, awaited, until: isRepeated ? until : undefined, watched: new Set<Watched>(), leave }
    list.add(waiter, waits, asked)
    stop ??= every(TICK_MS, tick)
  }

  return {
    ask(ref) {
      const waiter = list.find(ref)
      if (waiter === undefined || !isSame(waiter.ref, ref)) return false
      list.ask(waiter)
      return true
    },
    add,
    async close() {
      closed = true
      stop?.()
      await woken.close()
    },
  }
}

/** What a look at an object has seen, and what a resource expected. */
interface Seen {
  readonly watched: Watched
  readonly expected: Expectation
  readonly state: string
}

function repeat(milliseconds: number, work: () => void): () => void {
  const timer = setInterval(work, milliseconds).unref()
  return () => clearInterval(timer)
}

function waitsOf(envelope: Envelope, parsed: Parsed, now: Date): readonly Wait[] {
  return awaitedBy(envelope, now).flatMap(({ field, version }) => {
    const named = objectNamed(field, envelope.metadata.namespace, parsed)
    return named === undefined ? [] : [{ named, expected: { field, version } }]
  })
}

/** The reference as an event for this state of the resource has it. */
function identityOf(envelope: Envelope): Waiter['ref'] {
  const request = requestedAt(envelope)
  const ref = { ...refOf(envelope), uid: envelope.metadata.uid }
  return request === undefined ? ref : { ...ref, request: requestDigest(request) }
}

function isSame(one: ObjectRef, other: ObjectRef): boolean {
  return one.uid === other.uid && one.generation === other.generation && one.request === other.request
}
