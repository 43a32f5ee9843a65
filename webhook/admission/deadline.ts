import { unlessAborted } from '../../functions/domain/deadline.ts'
import { Failure } from '../../functions/domain/failure.ts'

/**
 * The result of the work if it ends within this many milliseconds. Otherwise throws Timeout; the work continues, and its
 * result is ignored.
 */
export async function withDeadline<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const deadline = new AbortController()
  const timeout = new Failure('Timeout', `The API server did not answer within ${milliseconds} ms.`)
  const timer = setTimeout(() => deadline.abort(timeout), milliseconds)
  try {
    return await unlessAborted(work, deadline.signal)
  } finally {
    clearTimeout(timer)
  }
}
