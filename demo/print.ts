import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

/** Writes output for people, with colours if the output is a terminal and NO_COLOR is not set. */
export interface Printer {
  readonly colour: boolean
  /** A heading with an empty line above it. */
  title(text: string): void
  line(text: string): void
  /** A command as a user would type it, above its output. */
  prompt(text: string): void
  /** The same with an empty line above it. */
  command(text: string): void
  /** Behind a tick: what has been achieved. */
  done(text: string): void
  /** Behind a cross: what has been refused, and why. */
  refused(text: string): void
  /** A YAML file, with its keys coloured. */
  yaml(text: string): void
  /** A finished step and its duration. */
  step(text: string, milliseconds: number): void
  /** Columns as kubectl prints them. */
  table(head: readonly string[], rows: readonly (readonly string[])[]): void
}

/** Spaces between two columns, as in kubectl's tables. */
const GAP = '   '
const NUMBER_WIDTH = 6

/** Makes a printer for the stream; without colour codes if it is not a terminal or if NO_COLOR is set. */
export function makePrinter(
  stream: { readonly isTTY?: boolean; write(text: string): unknown },
  env: Readonly<Record<string, string | undefined>>,
): Printer {
  const colour = stream.isTTY === true && (env['NO_COLOR'] ?? '') === ''
  const paint = (style: Style, text: string): string =>
    colour ? styleText(style, text, { validateStream: false }) : text
  const line = (text: string): void => void stream.write(`${text}\n`)
  const prompt = (text: string): void => line(`${paint('dim', '$')} ${paint('bold', text)}`)
  return {
    colour,
    line,
    prompt,
    title: (text) => line(`\n${paint('bold', text)}`),
    command: (text) => {
      line('')
      prompt(text)
    },
    done: (text) => line(`${paint('green', '✔')} ${text}`),
    refused: (text) => line(`${paint('red', '✖')} ${text}`),
    yaml: (text) => {
      for (const row of text.trimEnd().split('\n'))
        line(`  ${row.replace(/[\w-]+(?=:(?: |$))/g, (key) => paint('cyan', key))}`)
    },
    step: (text, milliseconds) => {
      const took = Math.round(milliseconds).toString().padStart(NUMBER_WIDTH)
      line(`${paint('dim', `${took} ms`)}  ${text}`)
    },
    table(head, rows) {
      for (const text of alignColumns([head, ...rows])) line(text)
    },
  }
}

/** A stopwatch: each call returns the milliseconds since the last one, the first since the stopwatch was made. */
export function makeLaps(): () => number {
  let last = performance.now()
  return () => {
    const before = last
    last = performance.now()
    return last - before
  }
}

/** Every column is as wide as its widest cell; lines do not end with spaces. */
export function alignColumns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  )
  return rows.map((row) =>
    widths
      .map((width, column) => (row[column] ?? '').padEnd(width))
      .join(GAP)
      .trimEnd(),
  )
}
