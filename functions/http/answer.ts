import type { Dispatcher } from 'undici'
import { TOO_LARGE } from '../domain/pull-request/large-answer.ts'
import { readBody } from '../domain/network/read-body.ts'
import { unusable } from './failures.ts'

const MIB = 1024 * 1024
/** These have no body (Fetch standard, "null body status"). */
const BODILESS = [204, 205, 304]

/**
 * Maximum size of the body of an answer in bytes: a page of a list with the longest texts (30 of GitHub's with 64 KiB
 * each, 20 of Bitbucket's with 32 KiB in five fields) has 2 to 4 MiB, and a usual page less than one.
 */
export const LARGEST_ANSWER = 4 * MIB

/** Usual answers have 20 to 60. Where there are 2,500, all that fit, it takes 2 ms to hand them on. */
const MOST_HEADERS = 256

/** The limits of a call. */
export interface AnswerBounds {
  /** Host and port, for messages. */
  readonly host: string
  /** Bytes of the body. */
  readonly most: number
  /** Ends the reading. */
  readonly signal: AbortSignal
  /** Gets the number of bytes of the body, and may throw. */
  readonly take: (bytes: number) => void
  /** As in FetchInit. */
  readonly readOn: (() => Promise<unknown>) | undefined
}

/**
 * The whole answer, with unchanged headers and bytes, and a status from 200 to 599.
 * @throws Failure ProviderUnavailable for another status, for more bytes than it may have (`isTooLarge`), too many small pieces
 * or more than 256 header fields, and for a compressed body, which was not requested; what `take` throws; the reason of the signal
 */
export async function readAnswer(answer: Dispatcher.ResponseData, bounds: AnswerBounds): Promise<Response> {
  const { host } = bounds
  const { statusCode: status } = answer
  // Reads the body in any case, so that the connection can be reused.
  const bytes = await readWhole(answer.body, bounds)
  if (status < 200 || status > 599) throw unusable(`the status ${status}, which HTTP does not have`, host)
  const headers = headersOf(answer.headers, host)
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (!['', 'identity'].includes(encoding)) throw unusable('a compressed body, which was not requested', host)
  return new Response(BODILESS.includes(status) ? null : bytes, { status, headers })
}

async function readWhole(
  body: Dispatcher.ResponseData['body'],
  { host, most, signal, take, readOn }: AnswerBounds,
): Promise<Buffer<ArrayBuffer>> {
  try {
    const bytes = await readBody(body, { most, signal, goOn: readOn })
    if (bytes === 'too large') {
      take(most)
      throw unusable(`more than ${shownSize(most)}, the limit of an answer`, host, TOO_LARGE)
    }
    if (typeof bytes === 'string') throw unusable('a body of too many small pieces', host)
    take(bytes.length)
    return bytes
  } catch (error) {
    body.destroy()
    throw error
  }
}

function shownSize(bytes: number): string {
  return bytes < MIB ? `${Math.round(bytes / 1024)} KiB` : `${Math.round(bytes / MIB)} MiB`
}

function headersOf(raw: Dispatcher.ResponseData['headers'], host: string): Headers {
  const pairs = Object.entries(raw).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value]),
  )
  if (pairs.length > MOST_HEADERS) throw unusable(`more than ${MOST_HEADERS} header fields`, host)
  return new Headers(pairs)
}
