import { unlessAborted } from '../../functions/domain/deadline.ts'
import { Failure } from '../../functions/domain/failure.ts'

/**
 * What the work comes to, where it does within so many milliseconds. Throws Timeout otherwise; the work goes on, and
 * nobody hears of its end.
 */
export async function withDeadline<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const ending = new AbortController()
  const late = new Failure('Timeout', `The API server did not answer within ${milliseconds} ms.`)
  const timer = setTimeout(() => ending.abort(late), milliseconds)
  try {
    return await unlessAborted(work, ending.signal)
  } finally {
    clearTimeout(timer)
  }
}
