/** As the schema of the status has it, in characters. */
const LONGEST = 8192

/** Without both slashes a parser guesses, and not every one guesses alike. */
const WITH_HOST = /^https?:\/\/[^/\\]/i

/**
 * The address of a pull request for people, of any host, in the one spelling of the URL Standard: it need not be that
 * of the API. Undefined where it is none that can be shown: it is no text, longer than 8,192 characters, holds blanks,
 * control or format characters, a user name or a password, or is not on HTTPS (nor on HTTP, where `baseURL` is).
 */
export function webAddress(value: unknown, baseURL: string): string | undefined {
  if (typeof value !== 'string' || value.length > LONGEST || /[\p{C}\p{Z}]/u.test(value)) return undefined
  const url = WITH_HOST.test(value) ? URL.parse(value) : null
  if (url === null || url.href.length > LONGEST || url.username !== '' || url.password !== '')
    return undefined
  const plain = url.protocol === 'http:' && baseURL.startsWith('http:')
  return plain || url.protocol === 'https:' ? url.href : undefined
}
