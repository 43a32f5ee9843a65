/** Of more names than this that a host refuses no sentence is made: each has the values of the Secret masked. */
export const MOST_NAMED = 10

/** A sentence for each of the first ten names, and one that counts the others. */
export function complaintsAbout(
  names: readonly string[],
  sentenceOf: (name: string) => string,
): readonly string[] {
  const others = names.length - MOST_NAMED
  const sentences = names.slice(0, MOST_NAMED).map(sentenceOf)
  return others > 0 ? [...sentences, `The same is true of ${others} more.`] : sentences
}
