import { LRUCache } from 'lru-cache'
import { Failure } from '../../domain/failure.ts'
import { openKeyedTurns } from '../../domain/sharing/keyed-turns.ts'
import { ended, type ApiAnswer, type ApiCall } from './exchange.ts'

/** Reads of large objects of one group that are made at once, and those of all groups: one whose API hangs leaves some to others. */
export const OF_GROUP = 2
export const OF_ALL = 4
/** Characters of an answer. Most resources have some 5,000, and the metadata of most objects fewer. */
const LARGE = 64 * 1024
/** As many as there are events in hand, several times. */
const MOST_REMEMBERED = 10_000

/** Sends a call, and throws a Failure, as ApiServer does. */
type Send = (call: ApiCall) => Promise<ApiAnswer>

/** Calls for a reader of this namespace; `signal`, which may be left out, ends a wait. */
export type LargeReads = (by: { readonly namespace: string; readonly signal?: AbortSignal }) => Send

/**
 * Shares the reads of what was large when it was read last among namespaces. An object may have tens of thousands of labels, which
 * need no admission, and takes the API server up to 0.2 s of a processor to send, also where only its metadata are asked for: with as
 * many of these reads at once as of others, it has no time for what the others ask. `elapsed`: milliseconds of a clock that is never
 * set.
 */
export function shareLargeReads(server: Send, elapsed: () => number): LargeReads {
  const large = new LRUCache<string, true>({ max: MOST_REMEMBERED })
  const ofGroup = openKeyedTurns(OF_GROUP, elapsed)
  const ofAll = openKeyedTurns(OF_ALL, elapsed)

  function note(key: string, isLarge: boolean): void {
    if (isLarge) large.set(key, true)
    else large.delete(key)
  }

  async function read(key: string, request: ApiCall): Promise<ApiAnswer> {
    try {
      const answer = await server(request)
      note(key, answer.text.length > LARGE)
      return answer
    } catch (error) {
      // The answer was larger than what is taken of it.
      if (error instanceof Failure && error.reason === 'NotSupported') note(key, true)
      throw error
    }
  }

  return ({ namespace: owner, signal = NEVER }) =>
    async function call(request) {
      if (request.method !== 'GET') return server(request)
      const { path, accept = '' } = request
      const key = `${accept} ${path}`
      if (!large.has(key)) return read(key, request)
      const taker = { owner, signal, late: ended }
      const inAll = (): Promise<ApiAnswer> => ofAll({ ...taker, key: '' }, () => read(key, request))
      return ofGroup({ ...taker, key: groupOf(path) }, inAll)
    }
}

const NEVER = new AbortController().signal

/** The group of an object at this path; all groups under /api are one. */
function groupOf(path: string): string {
  const [, root = '', group = ''] = path.split('/', 3)
  return root === 'apis' ? group : root
}
