/** A token that the server takes; its characters look different in JSON, in a URL and in both alphabets of base64. */
export const TOKEN = 'tkn/~>?Sup3rS3cret=&%"é'
/** The password of dev. */
export const PASSWORD = 'pa55~>? w0rd-0f-Dev+/='
/** A token that the server does not take. */
export const WRONG = 'tkn/~>?0f-Yesterday='
/** A token that a user has put into an address. */
export const IN_ADDRESS = 'tkn-In-The-Address'
const SECRETS = [TOKEN, PASSWORD, WRONG, IN_ADDRESS]
/** The user name that goes with a token to a host that nobody knows. */
export const TOKEN_USER = 'x-access-token'

/** The secret as it may be shown by whoever was shown it, with this user name over HTTPS. */
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

/** Answers the secrets that stand in a text, in whatever spelling. */
export function leakFinder(secrets: readonly string[]): (text: string) => readonly string[] {
  const needles = secrets.flatMap((secret) => [
    ...spellings(TOKEN_USER, secret),
    ...spellings('dev', secret),
    // What is left where a secret was cut, or written in a way that nobody has thought of.
    secret.split(/[^\w-]+/).reduce((one, other) => (other.length > one.length ? other : one)),
  ])
  const parts = needles.flatMap(partsOf)
  return (text) => parts.filter((needle) => text.includes(needle))
}

const PART = 32

/** Of a long text, parts of which one is in every piece of 64 characters: what is quoted is cut. */
function partsOf(needle: string): readonly string[] {
  if (needle.length < 2 * PART) return [needle]
  return needle.match(new RegExp(`[^]{${PART}}`, 'g')) ?? []
}

/** The secrets of this file that stand in the text. */
export const leaksIn = leakFinder(SECRETS)

/** What a hook says about the login that the server was shown, in red and with a title for the terminal. */
export function gossip(user: string | undefined, secret: string): string {
  return `\u001b]0;owned\u0007\u001b[31mI know ${spellings(user, secret).join('\u001b[0m\n')}\n`
}
