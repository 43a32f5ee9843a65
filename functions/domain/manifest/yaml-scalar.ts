import type { NumberText } from './json-node.ts'

// Characters that a reader may refuse or read as a line break: controls, half surrogate pairs, NEL (a control), LS, PS,
// BOM and the two non-characters (YAML 1.1 and 1.2, c-printable and b-char; PyYAML refuses DEL too).
const NEVER_BARE = /[\p{Cc}\p{Cs}\u2028\u2029\uFEFF\uFFFE\uFFFF]/u
const NEVER_IN_LITERAL = /[^\P{Cc}\n\t]|[\p{Cs}\u2028\u2029\uFEFF\uFFFE\uFFFF]/u
const BARE_IN_JSON = /[\u007F-\u009F\u2028\u2029\uFEFF\uFFFE\uFFFF]/g

// yaml.org/type (YAML 1.1: bool, null, merge, value, float), in upper and lower case because readers differ.
const KEYWORD = /^(?:|~|=|<<|y|n|yes|no|on|off|true|false|null|[-+]?\.(?:inf|nan))$/i
// Integers and floats of YAML 1.1, of the core schema of 1.2 and of the readers of Go, Ruby and
// JavaScript (`e1`, `.`), without `_` and `,`. With a lookahead, so that millions of digits are read once.
const NUMBER = /^[-+]?(?=(0[box][-+]?[\da-f]*|(?:\d+(?:\.\d*)?|\.\d*)(?:e[-+]?\d*)?|e[-+]?\d+))\1$/i
const SEXAGESIMAL = /^[-+]?\d[\d:]*(?:\.\d*)?$/
/** A character that no number of any reader has. */
const NOT_IN_NUMBERS = /[^-+.:,_\da-fox]/i
const NOT_SEXAGESIMAL = /^[^:]*$|::|:\.|:$/
const DATE = /^-?\d{4}-\d\d?-\d\d?(?:[Tt\s]|$)/

// Plain scalars in block context (YAML 1.2.2, 7.3.3), with the first character as in the strictest reader.
const NOT_PLAIN = /^[\s?:,[\]{}#&*!|>'"%@`]|^-(?:\s|$)|^---|^\.\.\.|:(?:\s|$)|\s#|\s$/

/**
 * A string on one line: plain if every reader of YAML 1.1 and 1.2 reads it as this string; in double quotes if a
 * reader would read something else, or a character has to be escaped; in single quotes if only the syntax does not
 * allow a plain scalar.
 */
export function flowScalar(value: string): string {
  if (NEVER_BARE.test(value) || readsAsAnother(value)) return doubleQuoted(value)
  if (NOT_PLAIN.test(value)) return `'${value.replaceAll("'", "''")}'`
  return value
}

/** Whether some reader of YAML 1.1 or 1.2 takes this text for another type where it is plain. */
export function readsAsAnother(value: string): boolean {
  if (KEYWORD.test(value) || DATE.test(value)) return true
  if (!/^[-+.\de]/i.test(value) || NOT_IN_NUMBERS.test(value)) return false
  // Before they look for a number, Go's yaml drops every underscore, and Ruby's also every comma.
  const bare = /[_,]/.test(value) ? value.replace(/[_,]+/g, '') : value
  return NUMBER.test(bare) || (SEXAGESIMAL.test(bare) && !NOT_SEXAGESIMAL.test(bare))
}

/** A string in double quotes, with all that a reader may refuse or read as a line break escaped. */
export function doubleQuoted(value: string): string {
  return JSON.stringify(value).replace(
    BARE_IN_JSON,
    (character) => ESCAPES.get(character) ?? escaped(character),
  )
}

/** Made once: an object may have a million of them. */
const ESCAPES: ReadonlyMap<string, string> = new Map(
  [...Array.from({ length: 33 }, (_, index) => 0x7f + index), 0x2028, 0x2029, 0xfeff, 0xfffe, 0xffff]
    .map((code) => String.fromCharCode(code))
    .map((character) => [character, escaped(character)]),
)

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}

/**
 * The header of the block literal (YAML 1.2.2, 8.1.2) that a string of several lines is written as: style,
 * indentation of two where a reader could not detect it, and chomping. Undefined: write it as a flow scalar.
 */
export function literalHeader(value: string): string | undefined {
  if (!value.includes('\n') || NEVER_IN_LITERAL.test(value)) return undefined
  if (endsInBlankLine(value)) return undefined
  const indentation = /^\n*[ \t]/.test(value) ? '2' : ''
  return `|${indentation}${chomping(value)}`
}

/** Is there only white space in the last line, or in all lines? Readers differ on what chomping leaves of it. */
function endsInBlankLine(value: string): boolean {
  let end = value.length
  while (value[end - 1] === '\n') end -= 1
  const lastLine = value.slice(value.lastIndexOf('\n', end - 1) + 1, end)
  return lastLine.trim() === ''
}

function chomping(value: string): '-' | '' | '+' {
  if (!value.endsWith('\n')) return '-'
  return value.endsWith('\n\n') ? '+' : ''
}

/**
 * A number: integers with their digits; floats with dot and signed exponent, without which a reader of YAML
 * 1.1 reads `1e+21` and `1.5e3` as strings (yaml.org/type/float).
 */
export function numberScalar({ digits }: NumberText): string {
  const [mantissa = digits, exponent] = digits.split(/e/i)
  if (exponent === undefined) return digits
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}e${/^[-+]/.test(exponent) ? '' : '+'}${exponent}`
}
