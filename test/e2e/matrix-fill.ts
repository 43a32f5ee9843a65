/** Puts words in the place of their names. */
export function fill(text: string, words: Readonly<Record<string, string>>): string {
  return text.replace(/\b[A-Z]{3,}\b/g, (name) => words[name] ?? name)
}
