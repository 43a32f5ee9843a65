import { Failure } from '../domain/failure.ts'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** @throws Failure Internal for a method that no API is called by */
export function methodOf(written: string): (typeof METHODS)[number] {
  const method = METHODS.find((known) => known === written.toUpperCase())
  if (method !== undefined) return method
  const message = 'An API was to be called by an unknown method; whoever runs Commitlet has to look.'
  throw new Failure('Internal', message)
}

/**
 * The headers, in lower case, and what every request says besides where it says nothing else: that bodies are not to
 * be compressed (without a word any coding is welcome: RFC 9110, 12.5.3), and who calls, as GitHub asks of everybody.
 * @throws Failure CredentialsInvalid where one cannot hold what it was given (RFC 9110, 5.5): only credentials come
 * from outside
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
  const message = `The credentials for ${host} hold a character that no header can carry; put a token of letters, digits and signs into the Secret.`
  return new Failure('CredentialsInvalid', message)
}
