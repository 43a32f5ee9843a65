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

/**
 * Hosts and hooks repeat addresses, branches, paths, messages and names, which users choose. So words that stand in these
 * are no words of the remote, and neither is what comes after many such.
 */
export function repeatedWords({ url, branch, commits }: Brought): IsRepeated {
  const known = new Map<string, boolean>()
  function* texts(): Iterable<string> {
    yield url
    yield branch
    for (const { message, author, files } of commits) {
      yield message
      yield author.name
      yield author.email
      for (const { path } of files) yield path
    }
  }
  function stands(words: string): boolean {
    for (const text of texts()) if (text.includes(words)) return true
    return false
  }
  return (words) => {
    const isRepeated = known.get(words) ?? (known.size >= LOOKED_UP || stands(words))
    if (known.size < LOOKED_UP) known.set(words, isRepeated)
    return isRepeated
  }
}

/** Nothing is repeated where nothing was brought. */
export const NOTHING_REPEATED: IsRepeated = () => false

/** The first part of the text that matches the pattern and is the remote's own, by its group `own` if it has one. */
export function firstOwn(text: string, pattern: RegExp, isRepeated: IsRepeated): RegExpExecArray | undefined {
  const all = new RegExp(pattern, `${pattern.flags}g`)
  for (const found of text.matchAll(all)) if (!isRepeated(found.groups?.['own'] ?? found[0])) return found
  return undefined
}
