import type { Dispatcher } from 'undici'
import { unusable } from './failures.ts'

/** These have no body (Fetch standard, "null body status"). */
const BODILESS = [204, 205, 304]

/**
 * The whole answer, with its headers and bytes as they came, and its status from 200 to 599. Whoever calls has bounded
 * its size and its time, and `take` gets the number of its bytes.
 * @throws Failure ProviderUnavailable for a status outside of these, and for a compressed body, which nobody asked
 * for; and what `take` throws
 */
export async function readAnswer(
  answer: Dispatcher.ResponseData,
  host: string,
  take: (bytes: number) => void,
): Promise<Response> {
  const { statusCode: status } = answer
  // Reads it in any case, so that the connection can be used again.
  const bytes = await answer.body.arrayBuffer()
  take(bytes.byteLength)
  if (status < 200 || status > 599) throw unusable(`the status ${status}, which HTTP does not have`, host)
  const headers = headersOf(answer.headers)
  const encoding = headers.get('content-encoding')?.trim().toLowerCase() ?? ''
  if (!['', 'identity'].includes(encoding))
    throw unusable('a compressed body, though none was asked for', host)
  return new Response(BODILESS.includes(status) ? null : bytes, { status, headers })
}

function headersOf(raw: Dispatcher.ResponseData['headers']): Headers {
  const pairs = Object.entries(raw).flatMap(([name, values]) =>
    [values ?? []].flat().map((value): [string, string] => [name, value]),
  )
  return new Headers(pairs)
}
