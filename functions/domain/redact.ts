import { looksLikeCredential } from './credential-text.ts'
import { decoded, dense, readingsOf } from './decoded-text.ts'

const LONGEST = 200
const MASK = '***'
/** Characters that are read: text after them is never shown, even if masks shorten the rest. */
const READ = 16_384
/** Limits of what is masked quickly, far above what one login has. */
const MASKED_CHARACTERS = 65_536
const MASKED_SECRETS = 1_024
/** Shorter secrets occur in ordinary words and addresses. */
const SHORTEST_FOUND = 8

// CSI and OSC sequences and two-byte escapes (ECMA-48), then every control and format character.
const ESCAPES = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -~]?/g
const CONTROLS = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]+/gu
/** JSON Web Tokens (RFC 7519): an App logs in with one, which is made for the call and is in no Secret. */
const WEB_TOKENS = /(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}(?:\.[\w-]*)?/g

/**
 * Text of the remote as users may see it: without escape sequences and control characters, each secret in each of its
 * encodings (see spellings) and each JSON Web Token replaced by `***`, on one line, at most 200 characters. Of secrets of 8
 * characters or more any character may be encoded (see readingsOf). Undefined if there are more than 1,024 secrets, or more than 64 Ki characters
 * of them: then no part of the text can be shown.
 */
export function redact(text: string, secrets: readonly string[]): string | undefined {
  if (areTooMany(new Set(secrets))) return undefined
  const read = text.slice(0, READ).replace(ESCAPES, '').replace(CONTROLS, ' ').replace(/ {2,}/g, ' ')
  const spelled = spelledOf(secrets)
  const masked = mask(maskRead(read.trim(), spelled), spelled).replace(WEB_TOKENS, MASK)
  // The text may have been cut within a secret, whose beginning is then not masked.
  const shown =
    text.length > READ ? masked.slice(0, -2 * (spelled.whole[0]?.length ?? 0) || undefined) : masked
  const characters = Array.from(shown)
  if (characters.length <= LONGEST) return characters.join('')
  return `${characters.slice(0, LONGEST - 1).join('')}…`
}

/**
 * Whether an address contains a secret in one of the spellings that `redact` masks, also partly or wholly encoded. Case is
 * ignored, because host names lose it. Secrets of fewer than 8 characters are ignored: they occur in ordinary addresses.
 */
export function holdsSecret(address: string, secrets: readonly string[]): boolean {
  const once = decoded(address)
  const read = [...new Set([address, once, decoded(once)])].map((text) => text.toLowerCase())
  return lowerSpelledOf(secrets).some((spelling) => read.some((text) => text.includes(spelling)))
}

/** A name of the spec in quotes, redacted like text of the remote; `***` if no part of it can be shown. */
export function redactedName(name: string, secrets: readonly string[]): string {
  return `"${redact(name, secrets) ?? MASK}"`
}

/** The secrets of several logins, each once. If there are too many to redact with, only some of them. */
export function unitedSecrets(lists: readonly (readonly string[])[]): readonly string[] {
  const united = new Set<string>()
  for (const list of lists) {
    for (const secret of list) united.add(secret)
    if (areTooMany(united)) break
  }
  return [...united]
}

/** Whether these are more than can be masked: then `redact` shows nothing. */
export function areTooMany(secrets: ReadonlySet<string>): boolean {
  if (secrets.size > MASKED_SECRETS) return true
  let characters = 0
  for (const { length } of secrets) characters += length
  return characters > MASKED_CHARACTERS
}

function mask(text: string, { whole }: Spelled): string {
  // Asked first, which takes half the time where nothing is found.
  return whole.reduce(
    (masked, spelling) => (masked.includes(spelling) ? masked.replaceAll(spelling, () => MASK) : masked),
    text,
  )
}

/**
 * Masks what a remote has written with blanks, or with what became blanks, between the characters of a secret, and with
 * some of them encoded. Shorter ones would be found across ordinary words.
 */
function maskRead(text: string, spelled: Spelled): string {
  const masked = new Uint8Array(text.length)
  for (const { text: read, from, to } of readingsOf(text))
    for (const secret of spelled.dense)
      for (let at = read.indexOf(secret); at >= 0; at = read.indexOf(secret, at + secret.length))
        masked.fill(1, from[at], to[at + secret.length - 1])
  if (!masked.includes(1)) return text
  let shown = ''
  for (let at = 0; at < text.length; at += 1) {
    if (masked[at] === 0) shown += text.charAt(at)
    else if (masked[at - 1] !== 1) shown += MASK
  }
  return shown
}

/** What a text of a remote may contain of secrets. */
interface Spelled {
  /** Each secret in each of its encodings, the longest first, so that no part of a secret is left next to a mask. */
  readonly whole: readonly string[]
  /** Raw and in base64, without blanks; only those of 8 characters or more. */
  readonly dense: readonly string[]
}

/** Of the same list of secrets, made once: making them for 64 Ki characters takes 30 ms. */
const spelledOf = oncePerList((secrets): Spelled => {
  const whole = longestFirst(secrets.flatMap(spellings))
  const found = longestFirst(secrets.flatMap(plainSpellings).map(dense))
  return { whole, dense: found.filter(({ length }) => length >= SHORTEST_FOUND) }
})

/** What an address may contain of secrets that have 8 characters or more, in lower case; of the same list made once. */
const lowerSpelledOf = oncePerList((secrets) => {
  const long = secrets.filter(({ length }) => length >= SHORTEST_FOUND)
  return longestFirst(long.flatMap(spellings).map((spelling) => spelling.toLowerCase()))
})

/** A list that has changed since counts as another one. */
function oncePerList<T>(make: (secrets: readonly string[]) => T): (secrets: readonly string[]) => T {
  const known = new WeakMap<readonly string[], { readonly of: readonly string[]; readonly made: T }>()
  return function madeOf(secrets) {
    const last = known.get(secrets)
    if (last !== undefined && areEqual(last.of, secrets)) return last.made
    const made = make(secrets)
    known.set(secrets, { of: [...secrets], made })
    return made
  }
}

function areEqual(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one, index) => one === others[index])
}

function longestFirst(spelled: readonly string[]): readonly string[] {
  const distinct = [...new Set(spelled)].filter((spelling) => spelling !== '')
  return distinct.sort((a, b) => b.length - a.length)
}

/** Raw, as in JSON, base64 (padded or not, both alphabets), URL-encoded (RFC 3986 in both cases, and as in forms). */
function spellings(secret: string): readonly string[] {
  const encoded = encodeURIComponent(secret.toWellFormed())
  const strict = encoded.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  const form = new URLSearchParams([['', secret]]).toString().slice(1)
  const urls = [encoded, strict, form]
  const lower = urls.map((url) => url.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()))
  const plain = plainSpellings(secret)
  const json = plain.slice(0, 1).map((raw) => JSON.stringify(raw).slice(1, -1))
  return [...plain, ...json, ...urls, ...lower]
}

/** Raw, and base64. */
function plainSpellings(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  const base64 = bytes.toString('base64')
  const raw = secret.replace(CONTROLS, ' ').trim()
  return [raw, base64, base64.replace(/=+$/, ''), bytes.toString('base64url')]
}

/**
 * An entry of a list as it may be shown: everything before its last `@` is `***`, and all of it if it looks like a
 * credential. Where a host is expected, a whole address with a password is a likely mistake, and the message is logged
 * or stored in a status.
 */
export function withoutUser(entry: string): string {
  const shown = entry.replace(/^.*@/s, `${MASK}@`)
  return looksLikeCredential(shown) ? MASK : shown
}
