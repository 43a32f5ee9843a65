import type { Shape } from '../harness/growth.ts'

/** A parser of what strangers send, and inputs that are slow to read. */
export interface ParserRow {
  /** As docs/security.md names it. */
  readonly parser: string
  /** Size of the largest input that reaches it: characters, bytes, or what `unit` says. */
  readonly largest: number
  readonly unit?: string
  readonly shapes: Readonly<Record<string, Shape>>
  /** For texts: pieces of which random texts are made, and the parser. */
  readonly text?: { readonly pieces: readonly string[]; readonly read: (text: string) => unknown }
}

/** Texts that a parser reads. */
export interface TextRow {
  readonly parser: string
  readonly largest: number
  readonly read: (text: string) => unknown
  /** By name: what comes first, what is repeated up to the size, and what comes last. */
  readonly texts: Readonly<Record<string, readonly [head: string, unit: string, tail: string]>>
}

/** A row of texts: those that are given, and random ones of the same pieces. */
export function textRow({ parser, largest, read, texts }: TextRow): ParserRow {
  const shapes = Object.entries(texts).map(([name, parts]) => [name, shapeOf(parts, read)] as const)
  const pieces = [...new Set(Object.values(texts).flat())].filter((piece) => piece !== '')
  return { parser, largest, shapes: Object.fromEntries(shapes), text: { pieces, read } }
}

/** A text with this beginning, this end and so many repetitions between that it has the size. */
export function shapeOf(
  [head, unit, tail]: readonly [string, string, string],
  read: (text: string) => unknown,
): Shape {
  return (size) => {
    const times = Math.max(0, Math.floor((size - head.length - tail.length) / unit.length))
    // A copy: the engine would first have to join the pieces, and it remembers the last texts that it searched.
    const text = Buffer.from(`${head}${unit.repeat(times)}${tail}`).toString()
    return () => read(text)
  }
}

/** An object with so many fields. */
export function objectOf(count: number): Record<string, number> {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, 1]))
}
