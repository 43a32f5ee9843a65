import type { Logger } from 'pino'
import { OVER } from '../domain/deadline.ts'
import type { Hint, NamedTogether, Posted } from '../domain/event/hint.ts'
import type { Timing } from '../domain/incoming/timing.ts'
import { resourceKey, type ObjectRef } from '../domain/resource/resource.ts'
import type { EventPlaces, Sender } from '../event-places.ts'
import type { Begin, Patience } from './begin-line.ts'
import { openBeginLine } from './begin-line.ts'
import { openHeldLists } from './held-lists.ts'
import { OF_SOURCES, openPacedLines } from './paced-lines.ts'
import type { Handle } from './in-hand.ts'
import { openInHand } from './in-hand.ts'
import { openJob } from './job.ts'

/** A search for the resources that wait for an object. It does not throw. */
export interface Search {
  readonly ended: Promise<void>
  /** It was planned already, for an event before, and has not begun: this event costs nothing more. */
  readonly isShared: boolean
}

/** One that finds nothing. */
export const NO_SEARCH: Search = { ended: Promise.resolve(), isShared: false }

/** What events ask for besides an attempt at the resource that they name. None of them throws. */
export interface Searches {
  /** Sweeps, unless it has done so a moment ago. */
  readonly sweep: (begin: Begin) => Promise<void>
  /** Looks for the resources that wait for these objects, or follow them, as this sender asks for. */
  readonly lookFor: (objects: NamedTogether, begin: Begin, sender: Sender) => Search
}

/** What arrivals use. */
export interface ArrivalOptions {
  readonly handle: Handle
  readonly places: EventPlaces
  readonly searches: Searches
  readonly log: Logger
  readonly wait: Timing['wait']
  readonly elapsed: Timing['elapsed']
}

/** 'no room': not everything could begin; 'failed': something could not be written. The sender repeats it then. */
export type Followed = 'done' | 'no room' | 'failed'

/** Follows the hints of what was posted. */
export interface Arrivals {
  /**
   * Resolves once everything is handled; a list and a search are answered after 25 s, and an event that keeps others
   * from being sent as soon as it is in hand, or waits for the pace of its namespace: what is left goes on. `address`: of the
   * sender, if that tells senders from each other.
   */
  readonly follow: (posted: Posted, sender: Sender, address?: string) => Promise<Followed>
  /** Resolves once nothing is in hand. Nothing waits for its pace any more. */
  readonly idle: () => Promise<void>
}

/** An API server gives up a list after 30 s, and sends it again. */
const HOLD_MS = 25_000
/** What a source has told of waits so long for a place; a sweep finds it then. */
const PLACE_MS = 10_000

/** Opens them with nothing in hand. */
export function openArrivals({ handle, places, searches, log, wait, elapsed }: ArrivalOptions): Arrivals {
  const inHand = openInHand(handle, log)
  const ending = new AbortController()
  const beginAll = openBeginLine({ elapsed, wait })
  const holdList = openHeldLists()
  const beginInPace = openPacedLines(OF_SOURCES, { elapsed, wait, ending: ending.signal })

  async function follow(posted: Posted, sender: Sender, address?: string): Promise<Followed> {
    if (posted.skipped > 0)
      log.warn(
        { events: posted.skipped },
        'a list has events that are too large; a sweep finds their resources',
      )
    // Such as about a deletion: whoever creates and deletes objects has many of them sent.
    if (posted.form === 'watched' && posted.hints.length === 0) places.giveBack(sender)
    if (sender !== 'anybody' || isSingle(posted)) return followAll(posted, sender, address)
    const letGo = holdList(address, posted.hints.length)
    return letGo === undefined ? 'no room' : followAll(posted, sender, address).finally(letGo)
  }

  async function followAll(posted: Posted, sender: Sender, address?: string): Promise<Followed> {
    const job = openJob(inHand, places, { sender, address })
    // A single event is answered at once: its sender waits as well as we can.
    const until = elapsed() + (isSingle(posted) ? 0 : HOLD_MS)
    const patience = (): Patience => ({ forMs: until - elapsed(), owner: address ?? '' })
    const over = new AbortController()
    const late = isHeld(posted) ? wait(HOLD_MS, over.signal).then(isTrue, isTrue) : undefined
    try {
      const refs = distinctRefs(posted.hints)
      if (sender === 'source' && posted.form === 'watched' && refs.length > 0) {
        // Nobody keeps the events of others from being sent.
        void beginInPace(refs, job.begin, PLACE_MS)
        return 'done'
      }
      if ((await beginAll(refs, job.begin, patience())) > 0) return 'no room'
      const searching: Promise<void>[] = posted.hints.some(({ about }) => about === 'everything')
        ? [searches.sweep(job.beginFound)]
        : []
      const unsought = await beginAll(
        objectsTogether(posted.hints),
        (objects) => {
          if (!job.maySearch()) return false
          const { ended, isShared } = searches.lookFor(objects, job.beginFound, sender)
          searching.push(ended)
          if (isShared && posted.form === 'watched') places.giveBack(sender)
          return true
        },
        patience(),
      )
      if (unsought > 0) return 'no room'
      const ended = inHand.keep(Promise.all(searching).then(job.ended))
      if (posted.form === 'watched') return 'done'
      return (await (late === undefined ? ended : Promise.race([ended, late]))) ? 'done' : 'failed'
    } finally {
      over.abort(OVER)
    }
  }

  return {
    follow,
    idle() {
      ending.abort()
      return inHand.idle()
    },
  }
}

function isSingle({ form }: Posted): boolean {
  return form === 'event' || form === 'watched'
}

/** Whether the answer is held for 25 s at most. */
function isHeld({ form, hints }: Posted): boolean {
  return form === 'list' || hints.some(({ about }) => about !== 'resource')
}

/** The resources that are named, each once. */
function distinctRefs(hints: readonly Hint[]): readonly ObjectRef[] {
  const refs = new Map<string, ObjectRef>()
  for (const hint of hints) {
    if (hint.about !== 'resource') continue
    refs.set(resourceKey(hint.ref), hint.ref)
  }
  return [...refs.values()]
}

/** The objects of each namespace, which is searched once for all of them. */
function objectsTogether(hints: readonly Hint[]): readonly NamedTogether[] {
  const objects = hints.flatMap((hint) => (hint.about === 'object' ? [hint.object] : []))
  return [...Map.groupBy(objects, ({ namespace }) => namespace)].map(([namespace, theirs]) => ({
    ...(namespace === undefined ? {} : { namespace }),
    names: theirs.map(({ name }) => name),
  }))
}

function isTrue(): true {
  return true
}
