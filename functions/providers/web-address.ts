/** Limit of the status schema, in characters. */
const LONGEST = 8192

/** Without both slashes, parsers guess the host, and not all guess the same. */
const WITH_HOST = /^https?:\/\/[^/\\]/i

/**
 * The web address of a pull request, on any host (not only the API's), normalized by the URL Standard. Undefined if it
 * cannot be shown: it is not a text, is longer than 8,192 characters, contains blanks, control or format characters, a
 * user name or a password, or does not use HTTPS (HTTP is allowed if `baseURL` uses it).
 */
export function webAddress(value: unknown, baseURL: string): string | undefined {
  if (typeof value !== 'string' || value.length > LONGEST || /[\p{C}\p{Z}]/u.test(value)) return undefined
  const url = WITH_HOST.test(value) ? URL.parse(value) : null
  if (url === null || url.href.length > LONGEST || url.username !== '' || url.password !== '')
    return undefined
  const plain = url.protocol === 'http:' && baseURL.startsWith('http:')
  return plain || url.protocol === 'https:' ? url.href : undefined
}
