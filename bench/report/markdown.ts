/** A table of Markdown; the first column is text, the others are numbers unless `text` says otherwise. */
export function markdownTable(
  heading: readonly string[],
  rows: readonly (readonly string[])[],
  text: readonly number[] = [0],
): string {
  const rule = heading.map((_, column) => (text.includes(column) ? '---' : '---:'))
  return [heading, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** A number as people read it: `12,345`, `1.23`. */
export function shown(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: value >= 1_000 ? 21 : 3 })
}

/** The picture of a chart. */
export function picture(name: string, title: string): string {
  return `![${title}](performance/${name}.svg)`
}
