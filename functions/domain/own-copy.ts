/**
 * The same text, to be kept for long: a part of a text, such as a slice or what an expression has matched, keeps all of that in
 * memory.
 */
export function ownCopy(part: string): string {
  return Buffer.from(part).toString()
}
