import { setImmediate as nextTurn } from 'node:timers/promises'
import { oneInATurn } from '../../domain/sharing/semaphores/one-in-a-turn.ts'
import type { ApiAnswer } from './exchange.ts'

/** Characters of an answer that is parsed as soon as it is here. Those of most resources have some 5,000. */
const SMALL = 32 * 1024

/** Waits until an answer may be parsed: at once, or, if it is large, in a turn of the event loop without another such one. */
export type ForParsing = (answer: ApiAnswer) => Promise<ApiAnswer>

/** Many answers may be complete at the same moment, and a large resource takes up to 60 ms to parse. */
export function takeTurnsToParse(): ForParsing {
  const inOneTurn = oneInATurn(nextTurn)
  return async function forParsing(answer) {
    return answer.text.length > SMALL ? inOneTurn(() => answer) : answer
  }
}
