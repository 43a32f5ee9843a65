/** Codes of ECMA-48 for the few styles that are used. */
const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const

/** A style of text on a terminal. */
export type Style = keyof typeof CODES

/** Returns what puts a text into a style; without colours the text as it is. */
export function styles(colour: boolean): (style: Style, text: string) => string {
  return function styled(style, text) {
    const [on, off] = CODES[style]
    return colour ? `\u001b[${on}m${text}\u001b[${off}m` : text
  }
}

/** What is printed from elsewhere: without control characters, which a terminal would act on. */
export function plain(text: string): string {
  return text.replace(/[^\P{Cc}\n\t]|\p{Cf}/gu, '?')
}

/** The same in one line: what is printed from elsewhere cannot look like lines of the command's own. */
export function plainLine(text: string): string {
  return plain(text).replace(/[\n\t]+/g, ' ')
}

/** As JSON, in which control and formatting characters are escapes, so that a terminal does not act on them. */
export function jsonText(value: unknown): string {
  const escaped = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value, undefined, 2).replace(/[\u007f-\u009f]|\p{Cf}/gu, (character) =>
    character.split('').map(escaped).join(''),
  )
}

/** The text in lines of at most so many characters, broken at blanks; the second and later ones are indented. */
export function wrapped(
  text: string,
  { width, indent }: { readonly width: number; readonly indent: number },
): string {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < width) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.join(`\n${' '.repeat(indent)}`)
}

/** Rows in columns as wide as their widest cell, two blanks between; the last column is not filled up. */
export function table(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = []
  for (const row of rows)
    for (const [at, cell] of row.entries()) widths[at] = Math.max(widths[at] ?? 0, cell.length)
  return rows.map((row) =>
    row
      .map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}
