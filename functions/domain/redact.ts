import { looksLikeCredential } from './credential-text.ts'

const LONGEST = 200
const MASK = '***'
/** Characters that are read: text after them is never shown, even if masks shorten the rest. */
const READ = 16_384
/** Limits of what is masked quickly, far above what one login has. */
const MASKED_CHARACTERS = 65_536
const MASKED_SECRETS = 1_024
const SHORTEST_FOUND = 8

// CSI and OSC sequences and two-byte escapes (ECMA-48), then every control and format character.
const ESCAPES = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -~]?/g
const CONTROLS = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]+/gu

/**
 * Text of the remote as users may see it: without escape sequences and control characters, each secret in each of its
 * encodings (see spellings) replaced by `***`, on one line, at most 200 characters. Undefined if there are more than
 * 1,024 secrets, or more than 64 Ki characters of them: then no part of the text can be shown.
 */
export function redact(text: string, secrets: readonly string[]): string | undefined {
  const distinct = new Set(secrets)
  if (areTooMany(distinct)) return undefined
  const read = text.slice(0, READ).replace(ESCAPES, '').replace(CONTROLS, ' ').replace(/ {2,}/g, ' ')
  const spelled = longestFirst([...distinct].flatMap(spellings))
  const masked = mask(maskSpaced(read.trim(), spelled), spelled)
  // The text may have been cut within a secret, whose beginning is then not masked.
  const shown = text.length > READ ? masked.slice(0, -2 * (spelled[0]?.length ?? 0) || undefined) : masked
  const characters = Array.from(shown)
  if (characters.length <= LONGEST) return characters.join('')
  return `${characters.slice(0, LONGEST - 1).join('')}…`
}

/**
 * Whether an address contains a secret in one of the spellings that `redact` masks, also partly or wholly
 * percent-encoded. Case is ignored, because host names lose it. Secrets of fewer than 8 characters are ignored: they
 * occur in ordinary addresses.
 */
export function holdsSecret(address: string, secrets: readonly string[]): boolean {
  const read = [address.toLowerCase(), percentDecoded(address).toLowerCase()]
  return secrets
    .filter(({ length }) => length >= SHORTEST_FOUND)
    .flatMap(spellings)
    .some((spelling) => read.some((text) => spelling !== '' && text.includes(spelling.toLowerCase())))
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

// The longest first, so that no part of a secret is left next to the mask.
function longestFirst(spelled: readonly string[]): readonly string[] {
  const distinct = [...new Set(spelled)].filter((spelling) => spelling !== '')
  return distinct.sort((a, b) => b.length - a.length)
}

function mask(text: string, spelled: readonly string[]): string {
  return spelled.reduce((masked, spelling) => masked.replaceAll(spelling, () => MASK), text)
}

/**
 * Masks what a remote has written with blanks, or with what became blanks, between the characters of a secret. Shorter ones
 * would be found across ordinary words.
 */
function maskSpaced(text: string, spelled: readonly string[]): string {
  const places = Array.from(text.matchAll(/\S/g), ({ index }) => index)
  const dense = text.replace(/\s/g, '')
  const masked = new Uint8Array(text.length)
  for (const spelling of spelled) {
    const secret = spelling.replace(/\s/g, '')
    if (secret.length < SHORTEST_FOUND) continue
    for (let at = dense.indexOf(secret); at >= 0; at = dense.indexOf(secret, at + secret.length))
      masked.fill(1, places[at], (places[at + secret.length - 1] ?? 0) + 1)
  }
  if (!masked.includes(1)) return text
  let shown = ''
  for (let at = 0; at < text.length; at += 1) {
    if (masked[at] === 0) shown += text.charAt(at)
    else if (masked[at - 1] !== 1) shown += MASK
  }
  return shown
}

/** Raw, as in JSON, base64 (padded or not, both alphabets), URL-encoded (RFC 3986 in both cases, and as in forms). */
function spellings(secret: string): readonly string[] {
  const bytes = Buffer.from(secret)
  const encoded = encodeURIComponent(secret.toWellFormed())
  const strict = encoded.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  const form = new URLSearchParams([['', secret]]).toString().slice(1)
  const urls = [encoded, strict, form]
  const lower = urls.map((url) => url.replace(/%[0-9A-F]{2}/g, (byte) => byte.toLowerCase()))
  const base64 = bytes.toString('base64')
  const raw = secret.replace(CONTROLS, ' ').trim()
  const json = JSON.stringify(raw).slice(1, -1)
  return [raw, json, base64, base64.replace(/=+$/, ''), bytes.toString('base64url'), ...urls, ...lower]
}

/** Text that is not percent-encoded is unchanged. */
function percentDecoded(address: string): string {
  return address.replace(/(?:%[0-9a-f]{2})+/gi, (run) =>
    Buffer.from(run.replaceAll('%', ''), 'hex').toString(),
  )
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
