/** A token that the server accepts; its characters look different in JSON, in a URL and in both alphabets of base64. */
export const TOKEN = 'tkn/~>?Sup3rS3cret=&%"é'
/** The password of dev. */
export const PASSWORD = 'pa55~>? w0rd-0f-Dev+/='
/** A token that the server does not accept. */
export const WRONG = 'tkn/~>?0f-Yesterday='
/** A token that a user has put into an address. */
export const IN_ADDRESS = 'tkn-In-The-Address'
const SECRETS = [TOKEN, PASSWORD, WRONG, IN_ADDRESS]
/** The user name that goes with a token to an unknown host. */
export const TOKEN_USER = 'x-access-token'

/** The spellings in which a server may repeat the secret, with this user name over HTTPS. */
function spellings(user: string | undefined, secret: string): readonly string[] {
  const base64 = Buffer.from(secret).toString('base64')
  const url = encodeURIComponent(secret)
  const form = new URLSearchParams({ '': secret }).toString().slice(1)
  const words = [
    secret,
    base64,
    base64.replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
    ...(user === undefined ? [] : [Buffer.from(`${user}:${secret}`).toString('base64')]),
  ]
  const lower = [url, form].map((word) => word.replace(/%../g, (byte) => byte.toLowerCase()))
  return [...words, url, form, ...lower]
}

/** Returns the secrets that a text contains, in any spelling. */
export function leakFinder(secrets: readonly string[]): (text: string) => readonly string[] {
  const needles = secrets.flatMap((secret) => [
    ...spellings(TOKEN_USER, secret),
    ...spellings('dev', secret),
    // What is left where a secret was cut, or written in an unexpected way.
    secret.split(/[^\w-]+/).reduce((one, other) => (other.length > one.length ? other : one)),
  ])
  const parts = needles.flatMap(partsOf)
  return (text) => parts.filter((needle) => text.includes(needle))
}

const PART = 32

/** Parts of a long text, one of which is in every piece of 64 characters: a quote is cut. */
function partsOf(needle: string): readonly string[] {
  if (needle.length < 2 * PART) return [needle]
  return needle.match(new RegExp(`[^]{${PART}}`, 'g')) ?? []
}

/** The secrets of this file that the text contains. */
export const leaksIn = leakFinder(SECRETS)

/** The output of a hook that repeats the login, in red and with a title for the terminal. */
export function gossip(user: string | undefined, secret: string): string {
  return `\u001b]0;owned\u0007\u001b[31mI know ${spellings(user, secret).join('\u001b[0m\n')}\n`
}
