import fc from '../../harness/fast-check.ts'

/** What stands after a colon or a dash in a block whose lines are indented so far, line end included. */
type Piece = (indent: number) => string

/** Plain texts, most of which some reader takes for another type. */
export const WORDS = ['x', 'no', '2024-01-01', '12:30:45', '1_000', '012', 'true', '~']

const ends = fc.constantFrom('', '', ' # c', '  ')
const spaces = fc.constantFrom('', ' ', '   ', '      ')

const line: fc.Arbitrary<Piece> = fc
  .tuple(
    fc.constantFrom(...WORDS, "'a'", '"a"', "'no'", '', '[x, 1_000, {y: no}]', "{'a', b: no}", '{}', '[]'),
    ends,
  )
  .map(
    ([text, end]) =>
      () =>
        ` ${text}${end}\n`,
  )

const severalLines: fc.Arbitrary<Piece> = fc
  .constantFrom(['x', 'y'], ['"a', '', 'b"'], ["'a", "b'"], ['[x,', 'y]'], ['{a: 1,', 'b: no', '}'])
  .map((lines) => (indent) => ` ${lines.join(`\n${' '.repeat(indent + 2)}`)}\n`)

const block: fc.Arbitrary<Piece> = fc
  .record({
    sign: fc.constantFrom('|', '>'),
    digit: fc.constantFrom('', '', '2'),
    chomping: fc.constantFrom('', '-', '+'),
    end: ends,
    lines: fc.array(fc.constantFrom('x', '# no', '- q', '  deep', ' ', '', 'a: b'), {
      maxLength: 3,
    }),
    blank: fc.array(spaces, { maxLength: 2 }),
  })
  .map(({ sign, digit, chomping, end, lines, blank }) => (indent) => {
    const text = ['x', ...lines].map((one) => `${' '.repeat(indent + 2)}${one}\n`)
    return ` ${sign}${digit}${chomping}${end}\n${text.join('')}${blank.map((one) => `${one}\n`).join('')}`
  })

/** A key with all that is written before its value, and whether it may have none. */
const keyForms = fc.constantFrom<(key: string, indent: number) => string>(
  (key) => `${key}:`,
  (key) => `${key}:`,
  (key) => `"${key}":`,
  (key) => `'${key}' :`,
  (key, indent) => `? ${key}\n${' '.repeat(indent)}:`,
)

const gaps = fc.oneof(
  { weight: 4, arbitrary: fc.constant('') },
  { weight: 1, arbitrary: fc.constantFrom('\n', '# c\n', '      # c\n', '  \n', '        \n') },
)

const { mapping, list } = fc.letrec<{ value: Piece; mapping: Piece; list: Piece }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 4, arbitrary: line },
    { weight: 1, arbitrary: severalLines },
    { weight: 3, arbitrary: block },
    {
      weight: 2,
      arbitrary: fc.tuple(tie('mapping'), ends).map(
        ([inner, end]) =>
          (indent: number) =>
            `${end}\n${inner(indent + 2)}`,
      ),
    },
    { weight: 2, arbitrary: fc.tuple(tie('list'), fc.constantFrom(0, 2)).map(below) },
  ),
  mapping: fc
    .array(fc.tuple(gaps, keyForms, tie('value'), fc.boolean()), { minLength: 1, maxLength: 3 })
    .map((members) => (indent: number) => members.map((one, at) => memberText(one, at, indent)).join('')),
  list: fc
    .array(fc.tuple(gaps, tie('value')), { minLength: 1, maxLength: 3 })
    .map(
      (items) => (indent: number) =>
        items.map(([gap, value]) => `${gap}${' '.repeat(indent)}-${value(indent)}`).join(''),
    ),
}))

function below([inner, step]: readonly [Piece, number]): Piece {
  return (indent) => `\n${inner(indent + step)}`
}

type Member = readonly [
  gap: string,
  form: (key: string, indent: number) => string,
  value: Piece,
  bare: boolean,
]

/** Now and then a key without a colon, which has no value. */
function memberText([gap, form, value, bare]: Member, at: number, indent: number): string {
  const [key, pad] = [`k${at}`, ' '.repeat(indent)]
  const head = form(key, indent)
  if (bare && head.startsWith('"')) return `${gap}${pad}? "${key}"\n`
  return `${gap}${pad}${head}${value(indent)}`
}

/**
 * Files whose form is rare: keys without a colon, white space at the end of texts, no final newline, words of YAML 1.1,
 * line ends of Unicode.
 */
export const oddFile: fc.Arbitrary<string> = fc
  .record({
    documents: fc.array(fc.oneof(mapping, mapping, list), { minLength: 1, maxLength: 2 }),
    start: fc.oneof(
      { weight: 20, arbitrary: fc.constantFrom('', '# top\n') },
      { weight: 1, arbitrary: fc.constantFrom('|\n- a\n---\n', '# c\u2028d: 1\n', '*a : 1\n') },
    ),
    end: fc.constantFrom('', '', '# end\n', '  # end', '   ', '...\n'),
    newline: fc.constantFrom('\n', '\n', '\r\n'),
    isCut: fc.boolean(),
  })
  .map(({ documents, start, end, newline, isCut }) => {
    const text = `${start}${documents.map((one) => one(0)).join('---\n')}${end}`
    return (isCut ? text.replace(/\n$/, '') : text).replaceAll('\n', newline)
  })
