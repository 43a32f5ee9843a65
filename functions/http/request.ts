import { Readable } from 'node:stream'
import { Failure } from '../domain/failure.ts'
import type { FetchInit } from '../domain/pull-request/pull-requests.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** @throws Failure Internal for a method that no API uses */
export function methodOf(written: string): (typeof METHODS)[number] {
  const method = METHODS.find((known) => known === written.toUpperCase())
  if (method !== undefined) return method
  const message =
    'Commitlet tried to call an API with an unknown HTTP method; report this to your Commitlet operator.'
  throw new Failure('Internal', message)
}

/**
 * The given headers, with names in lower case, and the headers of every request: no compressed body (without the
 * header any coding is acceptable: RFC 9110, 12.5.3), and a user agent, which GitHub requires.
 * @throws Failure CredentialsInvalid for a value that a header cannot have (RFC 9110, 5.5): only credentials come from
 * outside
 */
export function headersFor(
  given: Readonly<Record<string, string>>,
  host: string,
): Readonly<Record<string, string>> {
  const entries = Object.entries(given).map(([name, value]): [string, string] => [name.toLowerCase(), value])
  if (entries.some(([, value]) => /[^\t\x20-\x7e\x80-\xff]/.test(value))) throw unwritable(host)
  return { 'user-agent': 'Commitlet', ...Object.fromEntries(entries), 'accept-encoding': 'identity' }
}

/** The body as the HTTP client takes it: of one that is made in pieces, the next once the connection has taken the last. */
export function bodyOf(body: FetchInit['body']): string | Readable | null {
  if (typeof body !== 'object') return body ?? null
  return Readable.from(body.pieces(), { objectMode: false })
}

export function bytesOf(body: FetchInit['body']): number {
  return typeof body === 'object' ? body.bytes : Buffer.byteLength(body ?? '')
}

/** Without it, one that is made in pieces would be sent in chunks (RFC 9112, 7.1). */
export function lengthOf(body: FetchInit['body']): Readonly<Record<string, string>> {
  return typeof body === 'object' ? { 'content-length': String(body.bytes) } : {}
}

function unwritable(host: string): Failure {
  const message = `The credentials for ${host} contain a character that an HTTP header cannot contain; put a token of letters, digits and punctuation into the Secret.`
  return new Failure('CredentialsInvalid', message)
}
