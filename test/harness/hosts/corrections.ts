import { isRecord } from '../../../functions/domain/member.ts'

/** One place where a host does otherwise than its description says. */
interface Correction {
  /** A JSON Pointer (RFC 6901), in keys; `-` at its end appends to an array, as in a JSON Patch (RFC 6902). */
  readonly at: readonly string[]
  readonly to: unknown
  readonly why: string
}

const FILTERS = 'Its own text: "also supports filtering and sorting", with `q` and `sort`.'
const PAGES = 'Paginated answers are defined with page and pagelen, and rest/intro#pagination documents both.'
const REVISIONS = 'Its own text and examples: include and exclude, each repeatable, and path.'
const COMMA = 'Its own text: "comma-separated label names"; a JSON body may hold the text or the list.'

const CORRECTIONS: Readonly<Record<string, readonly Correction[]>> = {
  gitlab: ['RequestBody_d48c5188ea01', 'RequestBody_e430517b7941'].flatMap((body) =>
    ['labels', 'add_labels', 'remove_labels'].map((field) => ({
      at: ['components', 'schemas', body, 'properties', field],
      to: { oneOf: [text(), { type: 'array', items: text() }], nullable: true },
      why: COMMA,
    })),
  ),
  bitbucket: [
    { at: ['definitions', 'object', 'required'], to: [], why: 'Its own examples of bodies have no type.' },
    {
      at: ['definitions', 'pullrequest', 'allOf', '1', 'properties', 'description'],
      to: text(),
      why: 'Its own text: "Other fields: description - a string"; only the answers have it as summary.',
    },
    {
      at: [...below('pullrequests'), 'post', 'parameters', '0'],
      to: {
        name: '_body',
        in: 'body',
        required: true,
        schema: { allOf: [{ $ref: '#/definitions/pullrequest' }, { required: ['title', 'source'] }] },
      },
      why: 'Its own text: "The minimum required fields to create a pull request are `title` and `source`".',
    },
    {
      at: [...below('pullrequests'), 'get', 'parameters', '0'],
      to: { name: 'state', in: 'query', type: 'array', items: states(), collectionFormat: 'multi' },
      why: 'Its own text: "This parameter can be repeated".',
    },
    ...['q', 'sort'].map((name) => query('pullrequests', { name, ...text() }, FILTERS)),
    ...['page', 'pagelen'].map((name) => query('pullrequests', { name, type: 'integer' }, PAGES)),
    ...['commits', 'commits/{revision}'].flatMap((path) => [
      ...['include', 'exclude'].map((name) =>
        query(path, { name, type: 'array', items: text(), collectionFormat: 'multi' }, REVISIONS),
      ),
      query(path, { name: 'path', ...text() }, REVISIONS),
      ...['page', 'pagelen'].map((name) => query(path, { name, type: 'integer' }, PAGES)),
    ]),
  ],
}

/** The document as the host really works, as far as it is known; the file stays as published. */
export function corrected(name: string, document: unknown): unknown {
  return (CORRECTIONS[name] ?? []).reduce((done, { at, to }) => replaced(done, at, to), document)
}

function text(): object {
  return { type: 'string' }
}

function states(): object {
  return { type: 'string', enum: ['OPEN', 'MERGED', 'DECLINED', 'SUPERSEDED'] }
}

function below(path: string): readonly string[] {
  return ['paths', `/repositories/{workspace}/{repo_slug}/${path}`]
}

function query(path: string, parameter: object, why: string): Correction {
  return { at: [...below(path), 'get', 'parameters', '-'], to: { in: 'query', ...parameter }, why }
}

/** Throws an error where the way to the place is not there: the description has changed. */
function replaced(value: unknown, [key, ...rest]: readonly string[], to: unknown): unknown {
  if (key === undefined) return to
  if (Array.isArray(value)) {
    const at = key === '-' ? value.length : Number(key)
    return value.toSpliced(at, 1, replaced(value[at], rest, to))
  }
  if (!isRecord(value)) throw new Error(`A correction leads to ${key}, and nothing is there.`)
  return { ...value, [key]: replaced(value[key], rest, to) }
}
