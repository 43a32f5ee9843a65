import { Failure } from '../domain/failure.ts'

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

function unwritable(host: string): Failure {
  const message = `The credentials for ${host} contain a character that an HTTP header cannot contain; put a token of letters, digits and punctuation into the Secret.`
  return new Failure('CredentialsInvalid', message)
}
