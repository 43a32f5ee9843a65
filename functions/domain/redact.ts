import { looksLikeCredential } from './credential-text.ts'
import { decoded, readingsOf, UNSURE_END } from './decoded-text.ts'
import { LONGEST_PREFIX, search } from './pattern-search.ts'
import type { Budget, PatternIndex } from './pattern-search.ts'
import { areTooMany, lowerPatternsOf, patternsOf } from './secret-patterns.ts'
import type { SecretPatterns } from './secret-patterns.ts'

const LONGEST = 200
const MASK = '***'
/**
 * Characters that are read, as many as it takes to know what is shown: after the last ones nothing is shown, even if masks
 * shorten the rest. A token has 8,192 characters at most.
 */
const READ = [768, 3_072, 10_240] as const
/** What one text may cost, in units of a search: about a millisecond. Ordinary ones need a hundredth. */
const BUDGET = 60_000
/** Characters at the end of a cut reading that are not shown: a short secret may begin there, which the cut divides. */
const HIDDEN_END = UNSURE_END + 2 * LONGEST_PREFIX

// CSI and OSC sequences and two-byte escapes (ECMA-48), then every control and format character.
const ESCAPES = /\u001b\[[0-?]*[ -/]*[@-~]|\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\u001b[ -~]?/g
const CUT_ESCAPE = /\u001b\[[0-?]*[ -/]*$/
const CONTROLS = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]+/gu
/** JSON Web Tokens (RFC 7519): an App logs in with one, which is made for the call and is in no Secret. */
const WEB_TOKENS = /(?<![\w-])eyJ[\w-]{10,}\.eyJ[\w-]{10,}(?:\.[\w-]*)?/g

/**
 * Text of the remote as users may see it: without escape sequences and control characters, each secret in each of its
 * encodings and each JSON Web Token replaced by `***`, on one line, at most 200 characters. Secrets are masked raw, in base64,
 * and with any of their characters encoded (see readingsOf); those of 8 characters or more also with blanks between.
 * Undefined if there are more than 1,024 secrets, or more than 64 Ki characters of them, or if so many of them nearly occur that
 * the search would take more than a millisecond: then no part of the text can be shown.
 */
export function redact(text: string, secrets: readonly string[]): string | undefined {
  const patterns = patternsOf(secrets)
  if (patterns === undefined) return undefined
  const budget = { left: BUDGET }
  for (const most of READ) {
    const isCut = text.length > most
    const characters = Array.from(masked(cleaned(text, most), { patterns, isCut, budget }))
    if (budget.left < 0) return undefined
    if (characters.length > LONGEST) return `${characters.slice(0, LONGEST - 1).join('')}…`
    if (!isCut || most === READ.at(-1)) return characters.join('')
  }
  return undefined
}

/**
 * Whether an address contains a secret in one of the spellings that `redact` masks, also partly or wholly encoded. Case is
 * ignored, because host names lose it. Secrets of fewer than 8 characters are ignored: they occur in ordinary addresses. What
 * would take more than a millisecond to search counts as one that does.
 */
export function holdsSecret(address: string, secrets: readonly string[]): boolean {
  const once = decoded(address)
  const budget = { left: BUDGET }
  let hits = 0
  for (const text of new Set([address, once, decoded(once)]))
    search(lowerPatternsOf(secrets), { text: text.toLowerCase(), budget, found: () => (hits += 1) })
  return hits > 0 || budget.left < 0
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

/** At most so many characters of a text, on one line, without what controls a terminal. */
function cleaned(text: string, most: number): string {
  const read = text.length > most ? text.slice(0, most).replace(CUT_ESCAPE, '') : text
  return read.replace(ESCAPES, '').replace(CONTROLS, ' ').replace(/ {2,}/g, ' ').trim()
}

interface Masking {
  readonly patterns: SecretPatterns
  /** The text goes on after what is read. */
  readonly isCut: boolean
  readonly budget: Budget
}

/** The text with masks. Of one that is cut, only as much as is certain, whatever follows. */
function masked(text: string, { patterns: { dense, short }, isCut, budget }: Masking): string {
  const hidden = new Uint8Array(text.length)
  let end = text.length
  function find(index: PatternIndex, blank: '' | ' '): void {
    if (index.length === 0) return
    for (const { text: read, from, to } of readingsOf(text, blank)) {
      const cutAt = isCut ? Math.max(0, read.length - UNSURE_END) : undefined
      if (isCut) end = Math.min(end, from[read.length - HIDDEN_END] ?? 0)
      search(index, {
        text: read,
        ...(cutAt === undefined ? {} : { cutAt }),
        budget,
        found: (start, after) => hidden.fill(1, from[start], to[after - 1]),
      })
    }
  }
  find(dense, '')
  find(short, ' ')
  for (const token of text.matchAll(WEB_TOKENS)) hidden.fill(1, token.index, token.index + token[0].length)
  if (isCut) hidden.fill(1, cutWebToken(text))
  return withMasks(text.slice(0, end), hidden)
}

/** Where a JSON Web Token may begin of which the text has not the end; the length of the text if none does. */
function cutWebToken(text: string): number {
  let start = text.length
  while (/[\w.-]/.test(text.charAt(start - 1))) start -= 1
  const at = text.indexOf('eyJ', start)
  return at < 0 ? text.length : at
}

function withMasks(text: string, hidden: Uint8Array): string {
  let shown = ''
  for (let at = 0; at < text.length;) {
    const isHidden = hidden[at] === 1
    const next = hidden.indexOf(isHidden ? 0 : 1, at)
    const end = next < 0 ? text.length : Math.min(next, text.length)
    shown += isHidden ? MASK : text.slice(at, end)
    at = end
  }
  return shown
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
