import { areTooMany, MASKED_SECRETS } from '../secret-patterns.ts'
import { invalidSecret, shownKey } from './secret-keys.ts'
import type { KeyField, SecretData } from './secret-keys.ts'

/** Maximum bytes of a token, a user name or a password: what servers commonly accept as a header line. */
const VALUE_BYTES = 8_192
/** Maximum bytes of a private key or of known_hosts lines: a key of 16,384 bits has 12 KiB. */
const TEXT_BYTES = 65_536
/** Shorter values and lines are not masked: they occur in ordinary text. */
const SHORTEST_MASKED = 4
const SHORTEST_LINE = 16

/** A token, user name or password, trimmed; `field` names the key. Throws CredentialsInvalid if it is missing, empty or not one line. */
export function lineIn(secret: SecretData, key: string, field: KeyField): string {
  const shown = shownKey(key, field)
  const value = decoded(secret, { key, shown }, VALUE_BYTES).trim()
  if (value === '') throw invalidSecret(secret, `has nothing in its key ${shown}; put the value there.`)
  if (!/\p{Cc}/u.test(value)) return value
  throw notText(secret, shown, 'one line of text')
}

/** Text of several lines as it is. Throws CredentialsInvalid if it is missing, empty or not text. */
export function textIn(secret: SecretData, key: string, field: KeyField): string {
  const shown = shownKey(key, field)
  const value = decoded(secret, { key, shown }, TEXT_BYTES)
  if (value.trim() === '')
    throw invalidSecret(secret, `has nothing in its key ${shown}; put the value there.`)
  return value
}

/**
 * Every value of the Secret that must not be shown, used or not: unchanged (as its base64 in a manifest has it),
 * trimmed, and each line of those with several lines. A host may repeat any value that it was ever sent. If they are
 * more than `redact` masks, only some of them: then it shows nothing.
 */
export function valuesOf(secret: SecretData): readonly string[] {
  const found = new Set<string>()
  for (const bytes of secret.data.values()) {
    if (bytes.length > TEXT_BYTES) continue
    for (const text of spokenOf(decode(bytes) ?? '')) found.add(text)
    if (areTooMany(found)) break
  }
  return [...found]
}

function spokenOf(text: string): readonly string[] {
  const trimmed = text.trim()
  if (trimmed.length < SHORTEST_MASKED) return []
  const lines = trimmed.split('\n').map((line) => line.trim())
  const masked = new Set(lines.filter(({ length }) => length >= SHORTEST_LINE))
  // With more of them nothing is shown, and each is kept for as long as the login.
  return [text, trimmed, ...[...masked].slice(0, MASKED_SECRETS)]
}

function decoded(
  secret: SecretData,
  { key, shown }: { readonly key: string; readonly shown: string },
  most: number,
): string {
  const bytes = secret.data.get(key)
  if (bytes === undefined)
    throw invalidSecret(secret, `has no key ${shown}; add it, or name another in spec.credentials.`)
  if (bytes.length > most)
    throw invalidSecret(secret, `has more than ${most} bytes in its key ${shown}; put only the value there.`)
  const text = decode(bytes)
  if (text === undefined) throw notText(secret, shown, 'text')
  return text
}

function notText(secret: SecretData, shown: string, expected: string): Error {
  return invalidSecret(
    secret,
    `has something other than ${expected} in its key ${shown}; put only the value there.`,
  )
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
