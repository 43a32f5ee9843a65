/** Replaces names by their values. */
export function fill(text: string, words: Readonly<Record<string, string>>): string {
  return text.replace(/\b[A-Z]{3,}\b/g, (name) => words[name] ?? name)
}
