import type { NewCommit } from '../remote.ts'

/** Whether a remote that prints these words may only repeat what a push has brought. */
export type IsRepeated = (words: string) => boolean

/** What users choose of a push. */
export interface Brought {
  readonly url: string
  readonly branch: string
  readonly commits: readonly NewCommit[]
}

/** Different words that are looked up for one push: a remote that says something itself does not need more. */
const LOOKED_UP = 5
/** More text than pushes bring; above that all words may be repeated. */
const MOST_BYTES = 4 * 1024 * 1024

/**
 * Hosts and hooks repeat addresses, branches, paths, messages and names, which users choose. So words that stand in these
 * are no words of the remote, and neither is what comes after many such. Hooks print them in lines of another length, with
 * other quotes or in lower case (`git log --format=%s`, `fold`, `echo $message`): none of that makes other words of them.
 */
export function repeatedWords(brought: Brought): IsRepeated {
  const known = new Map<string, boolean>()
  let all: Buffer | 'too much' | undefined
  function stands(words: string): boolean {
    all ??= foldedTexts(brought)
    return all === 'too much' || all.includes(folded(words))
  }
  return (words) => {
    const isRepeated = known.get(words) ?? (known.size >= LOOKED_UP || stands(words))
    if (known.size < LOOKED_UP) known.set(words, isRepeated)
    return isRepeated
  }
}

/** All in one, because hooks join texts: `echo $(git log --format=%s)`. */
function foldedTexts(brought: Brought): Buffer | 'too much' {
  const parts: Buffer[] = []
  let bytes = 0
  for (const text of textsOf(brought)) {
    bytes += text.length
    if (bytes > MOST_BYTES) return 'too much'
    parts.push(folded(text))
  }
  return Buffer.concat(parts)
}

function* textsOf({ url, branch, commits }: Brought): Iterable<string> {
  yield url
  yield branch
  for (const { message, author, files } of commits) {
    yield message
    yield author.name
    yield author.email
    for (const { path } of files) yield path
  }
  const subjects = commits.map(({ message }) => message.split(/\n[^\S\n]*\n/, 1).join())
  yield* subjects
  yield* subjects.reverse()
}

/** The UTF-8 of the text, in lower case (ASCII), without white space, control characters, quotes and backslashes. */
function folded(text: string): Buffer {
  const bytes = Buffer.from(text)
  let length = 0
  for (const byte of bytes) {
    const kept = FOLDED[byte] ?? 0
    if (kept !== 0) bytes[length++] = kept
  }
  return bytes.subarray(0, length)
}

/** By byte; 0: left out. */
const FOLDED = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte <= 0x20 || byte === 0x7f || `'"\`\\`.includes(String.fromCharCode(byte))) return 0
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte
})

/** The first part of the text that matches the pattern and is the remote's own, by its group `own` if it has one. */
export function firstOwn(text: string, pattern: RegExp, isRepeated: IsRepeated): RegExpExecArray | undefined {
  const all = new RegExp(pattern, `${pattern.flags}g`)
  for (const found of text.matchAll(all)) if (!isRepeated(found.groups?.['own'] ?? found[0])) return found
  return undefined
}
