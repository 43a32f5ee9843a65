import { Composer, Lexer, Parser, type CST } from 'yaml'
import { lineAt, type Refuse } from './refusal.ts'

/** Maximum parts of a text, each a sign, a name, a value, a space or a line end: each takes up to 400 bytes. */
const PARTS_LIMIT = 1_500_000
/**
 * The library makes two texts of each line of a literal, in one list. For two million blank lines that list takes 50 MB, and its last
 * growth is 16.4 MB. Where the heap of a thread grows by 16.8 MB beyond its bound at once, Node ends more than the thread.
 */
const PARTS_OF_LINE = 2
/** Maximum nesting of a text. */
const DEPTH_LIMIT = 200
/** Maximum comments, spaces and line ends between two values: the parser takes the square of it. */
const RUN_LIMIT = 10_000
// c-printable of YAML 1.2 without the marks that the library uses itself.
const CONTROL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)/
/** What readers of YAML 1.1 take for a line end, outside of quotes too, and those of 1.2 for a letter. */
const OTHER_LINE_END = /[\x85\u2028\u2029]/
/** The first character of what begins or separates values, a value's own mark included. */
const CONTENT = /^[\x1f"'*?:,[\]{}|>-]/

/** Where the library has found an error. */
type ErrorSource = number | readonly [number, ...number[]] | { readonly offset: number }

/**
 * The documents of a YAML text as the library's tokens. Fails if it is not YAML, is nested deeper than 200 levels, or
 * has too many parts for the memory of a pod.
 */
export function yamlDocuments(text: string, refuse: Refuse): readonly CST.Document[] {
  const control = CONTROL.exec(text)
  if (control !== null) {
    const line = lineAt(text, control.index)
    throw refuse(`has a control character in line ${line}, which YAML does not allow; fix the file.`)
  }
  const tokens = readTokens(text, refuse)
  requireValid(text, tokens, refuse)
  return tokens.filter((token) => token.type === 'document')
}

function readTokens(text: string, refuse: Refuse): readonly CST.Token[] {
  const parser = new Parser()
  const tokens: CST.Token[] = []
  let [parts, run] = [0, 0]
  for (const part of new Lexer().lex(text)) {
    parts += partsOf(part)
    if (part === '\ufeff' || (OTHER_LINE_END.test(part) && !/^["']/.test(part)))
      throw unclear(text, part, refuse)
    run = CONTENT.test(part) ? 0 : run + 1
    if (parts > PARTS_LIMIT || run > RUN_LIMIT) throw tooLong(refuse)
    for (const token of parser.next(part)) {
      // At the first error: to make each takes 20 microseconds, and a text may be of nothing else.
      if (token.type === 'error') throw invalidYAML({ text, refuse }, token.offset)
      tokens.push(token)
    }
    if (parser.stack.length > DEPTH_LIMIT) throw tooDeep(refuse)
  }
  tokens.push(...parser.end())
  return tokens
}

function partsOf(part: string): number {
  let lines = 0
  // A line end by itself has a character or two.
  for (let end = part.indexOf('\n', 2); end >= 0; end = part.indexOf('\n', end + 1)) lines += 1
  return 1 + PARTS_OF_LINE * lines
}

function requireValid(text: string, tokens: readonly CST.Token[], refuse: Refuse): void {
  // The keys are compared in yaml-tree.ts: the library takes the square of their number.
  const composer = new Composer({ uniqueKeys: false, schema: 'failsafe', logLevel: 'silent' })
  let first: number | undefined
  // At the first error: a text of errors alone takes seconds to be read to its end.
  Reflect.set(
    composer,
    'onError',
    (source: ErrorSource, _code: string, _message: string, warning?: boolean) => {
      if (warning === true) return
      // The library catches what is thrown in a collection, and reports it for the whole collection.
      first ??= typeof source === 'number' ? source : 'offset' in source ? source.offset : source[0]
      throw invalidYAML({ text, refuse }, first)
    },
  )
  for (const { errors } of composer.compose(tokens)) {
    const [error] = errors
    if (error !== undefined) throw invalidYAML({ text, refuse }, error.pos[0])
  }
}

/** The Failure of a text that is not YAML at this place. */
export function invalidYAML(
  { text, refuse }: { readonly text: string; readonly refuse: Refuse },
  at: number,
): Error {
  return refuse(`is not valid YAML (line ${lineAt(text, at)}); fix the file, or write it whole.`)
}

function unclear(text: string, part: string, refuse: Refuse): Error {
  const what =
    part === '\ufeff' ? 'a byte order mark' : 'a line end of Unicode (NEL, LS or PS) outside of quotes'
  const at = text.indexOf(part)
  return refuse(
    `has ${what} in line ${lineAt(text, at)}, which readers of YAML take for different things; remove it.`,
  )
}

function tooLong(refuse: Refuse): Error {
  return refuse('has more values, lines or comments than are supported; split the file.', 'NotSupported')
}

function tooDeep(refuse: Refuse): Error {
  return refuse(
    `is nested deeper than ${DEPTH_LIMIT} levels, which is the limit; use a file with less nesting.`,
    'NotSupported',
  )
}
