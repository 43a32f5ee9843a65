import { Failure } from '../../functions/domain/failure.ts'

/**
 * What the work comes to, where it does within so many milliseconds. Throws Timeout otherwise; the work goes on, and
 * nobody hears of its end.
 */
export async function withDeadline<T>(work: Promise<T>, milliseconds: number): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(
    () => reject(new Failure('Timeout', `The API server did not answer within ${milliseconds} ms.`)),
    milliseconds,
  )
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
