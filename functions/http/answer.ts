import type { Dispatcher } from 'undici'
import { unusable } from './failures.ts'

/** These have no body (Fetch standard, "null body status"). */
const BODILESS = [204, 205, 304]

/**
 * The whole answer, with unchanged headers and bytes, and a status from 200 to 599. The caller has limited its size
 * and its time; `take` gets the number of its bytes.
 * @throws Failure ProviderUnavailable for another status, and for a compressed body, which was not requested; and what
 * `take` throws
 */
export async function readAnswer(
  answer: Dispatcher.ResponseData,
  host: string,
  take: (bytes: number) => void,
): Promise<Response> {
  const { statusCode: status } = answer
  // Reads the body in any case, so that the connection can be reused.
  const bytes = await answer.body.arrayBuffer()
  take(bytes.byteLength)
  if (status < 200 || status > 599) throw unusable(`the status ${status}, which HTTP does not have`, host)
  const headers = headersOf(answer.headers)
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (!['', 'identity'].includes(encoding)) throw unusable('a compressed body, which was not requested', host)
  return new Response(BODILESS.includes(status) ? null : bytes, { status, headers })
}

function headersOf(raw: Dispatcher.ResponseData['headers']): Headers {
  const pairs = Object.entries(raw).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value]),
  )
  return new Headers(pairs)
}
