/** A piece of a line in one style: the codes of SGR (ECMA-48) that are switched on. */
export interface Token {
  readonly text: string
  readonly codes: readonly number[]
}

/** What each code switches off besides itself. */
const ENDS: Readonly<Record<number, (code: number) => boolean>> = {
  0: () => true,
  22: (code) => code === 1 || code === 2,
  39: (code) => code >= 30 && code <= 37,
}

/** The pieces of a line that a program wrote to a terminal; every other escape sequence is dropped. */
export function tokensOf(line: string): readonly Token[] {
  let codes: readonly number[] = []
  return line.split(/(\x1b\[[\d;]*[A-Za-z])/).flatMap((part) => {
    if (!part.startsWith('\x1b')) return part === '' ? [] : [{ text: part, codes }]
    if (part.endsWith('m')) codes = part.slice(2, -1).split(';').map(Number).reduce(switched, codes)
    return []
  })
}

function switched(codes: readonly number[], code: number): readonly number[] {
  const ends = ENDS[code]
  return ends === undefined ? [...codes, code] : codes.filter((one) => !ends(one))
}
