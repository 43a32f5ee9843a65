import { LRUCache } from 'lru-cache'
import { Failure } from '../../domain/failure.ts'
import { openKeyedTurns, type KeyedTurns, type TurnTaker } from '../../domain/sharing/keyed-turns.ts'
import { countExcess, FEW } from '../../domain/sharing/taken-time.ts'
import { ended, type ApiAnswer, type ApiCall } from './exchange.ts'
import { isOwnPath } from './own-paths.ts'
import { REST_CLOCK, restAfter, type RestClock } from './rest.ts'

/** Reads of large objects of one group that are made at once, and those of all groups: one whose API hangs leaves some to others. */
export const OF_GROUP = 2
export const OF_ALL = 4
/** Those of all groups that the API server may pass on to another API: one is left to what it serves itself. */
export const PASSED_ON = 3
/** For so long one of these holds its place, in milliseconds: an API that hangs costs the API server no processor. */
export const LONGEST_TURN_MS = 2_000
/**
 * Reads at once of what is not known to be large, of one group that the API server serves itself: what was not read yet may be large.
 * Most take some milliseconds.
 */
export const OTHERS_OF_GROUP = 8
/** After so many large ones of a group in a row, what a namespace reads there for the first time counts as large, too. */
const IN_A_ROW = 2
/** Characters of an answer. Most resources have some 5,000, and the metadata of most objects fewer. */
const LARGE = 64 * 1024
/** Milliseconds of the API server for a character; while others keep it busy, a call takes longer. */
const MS_PER_CHARACTER = 0.5 / 1024
/** As many as there are events in hand, several times. */
const MOST_REMEMBERED = 10_000

/** Sends a call, and throws a Failure, as ApiServer does. */
type Send = (call: ApiCall) => Promise<ApiAnswer>

/** Calls for a reader of this namespace; `signal`, which may be left out, ends a wait. */
export type LargeReads = (by: { readonly namespace: string; readonly signal?: AbortSignal }) => Send

/**
 * Shares the reads of what was large when it was read last among namespaces. An object may have tens of thousands of labels, which
 * need no admission, and takes the API server up to 0.2 s of a processor to send, also where only its metadata are asked for: with as
 * many of these reads at once as of others, it has no time for what the others ask. A pod that has just started knows of none, and
 * a hundred that are read for the first time are no better: so there are not many others at once, either. After each that was known to
 * be large there is a rest, no longer than its size explains, which its reader does not wait for: where two follow each other all the
 * time, they would take two processors. Next is always the namespace that has taken the least time lately.
 */
export function shareLargeReads(server: Send, clock: RestClock = REST_CLOCK): LargeReads {
  const { elapsed } = clock
  const large = new LRUCache<string, true>({ max: MOST_REMEMBERED })
  // Of namespaces and groups.
  const inARow = new LRUCache<string, number>({ max: MOST_REMEMBERED })
  const inTurns = (places: number): KeyedTurns =>
    openKeyedTurns(places, elapsed, { taken: countExcess(FEW, elapsed) })
  const [ofGroup, ofAll, othersOfGroup] = [inTurns(OF_GROUP), inTurns(OF_ALL), inTurns(OTHERS_OF_GROUP)]
  const passedOn = inTurns(PASSED_ON)

  function note({ key, reader }: Reading, isLarge: boolean): void {
    if (isLarge) {
      large.set(key, true)
      inARow.set(reader, (inARow.get(reader) ?? 0) + 1)
    } else {
      large.delete(key)
      inARow.delete(reader)
    }
  }

  function isLarge({ key, reader }: Reading): boolean {
    return large.has(key) || (inARow.get(reader) ?? 0) >= IN_A_ROW
  }

  async function read(reading: Reading): Promise<ApiAnswer> {
    try {
      const answer = await server(reading.request)
      note(reading, answer.text.length > LARGE)
      return answer
    } catch (error) {
      // The answer was larger than what is taken of it.
      if (error instanceof Failure && error.reason === 'NotSupported') note(reading, true)
      throw error
    }
  }

  async function readAndRest(
    reading: Reading,
    answered: (answer: Promise<ApiAnswer>) => void,
  ): Promise<void> {
    const began = elapsed()
    const answer = read(reading)
    answered(answer)
    const mostMs = await answer.then(
      ({ text }) => text.length * MS_PER_CHARACTER,
      () => undefined,
    )
    await restAfter(began, clock, mostMs)
  }

  /** Begins when it is its turn, which ends with the rest after it, or before that where another API may be what it waits for. */
  async function inTurn(taker: TurnTaker, isOwn: boolean, work: () => Promise<void>): Promise<void> {
    const ofEach = { ...taker, key: '' }
    if (isOwn) return ofGroup(taker, () => ofAll(ofEach, work))
    const longest = (): Promise<unknown> => Promise.race([work(), clock.wait(LONGEST_TURN_MS)])
    await ofGroup(taker, () => passedOn(ofEach, () => ofAll(ofEach, longest)))
  }

  return ({ namespace: owner, signal = NEVER }) =>
    async function call(request) {
      if (request.method !== 'GET') return server(request)
      const { path, accept = '' } = request
      const group = groupOf(path)
      const reading = { request, key: `${accept} ${path}`, reader: `${group} ${owner}` }
      const taker = { owner, signal, late: ended, key: group }
      const isOwn = isOwnPath(path)
      if (!isLarge(reading)) {
        // Calls that may be passed on to another API have turns of their own (object-reads.ts).
        if (!isOwn) return read(reading)
        // While it waited, another read may have told more.
        const answer = await othersOfGroup(taker, async () => (isLarge(reading) ? undefined : read(reading)))
        if (answer !== undefined) return answer
      }
      const { promise, resolve, reject } = Promise.withResolvers<ApiAnswer>()
      void inTurn(taker, isOwn, () => readAndRest(reading, resolve)).catch(reject)
      return promise
    }
}

/** A read: of what, and by whom of which group. */
interface Reading {
  readonly request: ApiCall
  readonly key: string
  readonly reader: string
}

const NEVER = new AbortController().signal

/** The group of an object at this path; all groups under /api are one. */
function groupOf(path: string): string {
  const [, root = '', group = ''] = path.split('/', 3)
  return root === 'apis' ? group : root
}
