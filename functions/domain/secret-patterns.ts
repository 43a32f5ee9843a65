import { withBlanks } from './decoded-text.ts'
import { indexOf, LONGEST_PREFIX } from './pattern-search.ts'
import type { PatternIndex } from './pattern-search.ts'

/** What a text of a remote may contain of secrets. */
export interface SecretPatterns {
  /** Of 8 characters or more, without their blanks: found whatever blanks the text has between them. */
  readonly dense: PatternIndex
  /** Shorter ones, each blank as one space: without blanks they would be found across ordinary words. */
  readonly short: PatternIndex
}

/** Limits of what is masked quickly, far above what one login has. */
const MASKED_CHARACTERS = 65_536
export const MASKED_SECRETS = 1_024
/** Shorter secrets occur in ordinary addresses. */
const SHORTEST_IN_ADDRESS = LONGEST_PREFIX

/** Whether these are more than can be masked: then nothing of a text is shown. */
export function areTooMany(secrets: ReadonlySet<string>): boolean {
  if (secrets.size > MASKED_SECRETS) return true
  let characters = 0
  for (const { length } of secrets) characters += length
  return characters > MASKED_CHARACTERS
}

/**
 * Each secret in each of its spellings. What decoding brings to light is not among them: the text is decoded for that. Of the
 * same list made once. Undefined if there are more than 1,024 secrets, or more than 64 Ki characters of them.
 */
export const patternsOf = oncePerList((secrets): SecretPatterns | undefined => {
  const distinct = new Set(secrets)
  if (areTooMany(distinct)) return undefined
  const dense = new Set<string>()
  const short = new Set<string>()
  for (const spelling of spellings(distinct)) {
    const pattern = withBlanks(spelling, '')
    if (pattern.length >= LONGEST_PREFIX) dense.add(pattern)
    else if (pattern !== '') short.add(withBlanks(spelling, ' ').trim())
  }
  return { dense: indexOf([...dense]), short: indexOf([...short]) }
})

/** What an address may contain of secrets that have 8 characters or more, in lower case; of the same list made once. */
export const lowerPatternsOf = oncePerList((secrets): PatternIndex => {
  const long = [...new Set(secrets)].filter(({ length }) => length >= SHORTEST_IN_ADDRESS)
  const found = new Set<string>()
  for (const spelling of spellings(long)) {
    const pattern = withBlanks(spelling, ' ').trim().toLowerCase()
    if (pattern.length >= SHORTEST_IN_ADDRESS) found.add(pattern)
  }
  return indexOf([...found])
})

/**
 * Raw, base64 (both alphabets, padded or not), as a text in JSON, and as in forms once their percent-encoding is decoded. Each is
 * made quickly: there may be a thousand secrets.
 */
function* spellings(secrets: Iterable<string>): Iterable<string> {
  for (const secret of secrets) {
    yield secret
    const base64 = Buffer.from(secret).toString('base64')
    yield base64
    const padding = base64.indexOf('=')
    const bare = padding < 0 ? base64 : base64.slice(0, padding)
    if (padding >= 0) yield bare
    if (/[+/]/.test(bare)) yield bare.replaceAll('+', '-').replaceAll('/', '_')
    // Decoding the text would change these: what is encoded in the secret itself would be decoded as well.
    if (/["\\]/.test(secret)) yield JSON.stringify(secret).slice(1, -1)
    if (secret.includes(' ')) yield secret.replaceAll(' ', '+')
  }
}

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
