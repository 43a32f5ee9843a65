import { elements, entries, isRecord, member, textMember } from '../../../functions/domain/member.ts'

/** A parameter of the path or the query. Its schema is what follows from OpenAPI 3 and Swagger 2 alike. */
export interface Parameter {
  readonly name: string
  readonly place: string
  readonly required: boolean
  readonly schema: unknown
  /** A list is written as one text with commas; else its key is repeated. */
  readonly commas: boolean
}

/** What an operation takes as its body, and under which media types. */
export interface Body {
  readonly required: boolean
  readonly mediaTypes: readonly string[]
  readonly schema: unknown
}

/** One method of one path. */
export interface Operation {
  /** In capitals. */
  readonly method: string
  /** As it is written in the description, below the API's base: `/repos/{owner}/{repo}/pulls`. */
  readonly template: string
  /** Has one group for each name in `template`, in its order; a group holds the text still percent-encoded. */
  readonly pattern: RegExp
  readonly parameters: readonly Parameter[]
  readonly body: Body | undefined
  /** The schema of the JSON that comes with each status; undefined: nothing is said of it. */
  readonly answers: ReadonlyMap<string, unknown>
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete']

/**
 * The operations of an OpenAPI 3 or Swagger 2 document, the most specific paths first. `x-commitlet-base` is what the
 * document writes before every path although it belongs to the API's base.
 */
export function operationsOf(document: unknown): readonly Operation[] {
  const base = textMember(document, 'x-commitlet-base') ?? ''
  const found = entries(member(document, 'paths')).flatMap(([path, item]) => {
    const template = path.slice(base.length)
    return entries(item)
      .filter(([method]) => METHODS.includes(method))
      .map(([method, operation]) => operationOf(document, { template, method, item, operation }))
  })
  return found.toSorted((one, other) => namesIn(one.template).length - namesIn(other.template).length)
}

/** The names between the braces of a path template. */
export function namesIn(template: string): readonly string[] {
  return [...template.matchAll(/\{([^}]+)\}/g)].map((match) => match[1] ?? '')
}

/** What stands at the end of a chain of `$ref`s within the document. Throws an error where there is nothing. */
export function resolved(document: unknown, value: unknown): unknown {
  const reference = textMember(value, '$ref')
  if (reference === undefined) return value
  const keys = reference.slice('#/'.length).split('/').map(unescaped)
  const target = keys.reduce<unknown>(member, document)
  if (target === undefined) throw new Error(`The description has nothing at ${reference}.`)
  return resolved(document, target)
}

/** RFC 6901, section 4. */
function unescaped(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}

interface Place {
  readonly template: string
  readonly method: string
  readonly item: unknown
  readonly operation: unknown
}

function operationOf(document: unknown, { template, method, item, operation }: Place): Operation {
  const given = [...elements(member(item, 'parameters')), ...elements(member(operation, 'parameters'))]
  const all = given.map((parameter) => resolved(document, parameter))
  const parameters = all.filter((parameter) => member(parameter, 'in') !== 'body').map(parameterOf)
  return {
    method: method.toUpperCase(),
    template,
    pattern: patternOf(template, all),
    parameters,
    body: bodyOf(document, operation, all),
    answers: new Map(
      entries(member(operation, 'responses')).map(([status, answer]) => [
        status,
        schemaOf(resolved(document, answer)),
      ]),
    ),
  }
}

/** GitHub marks parameters that may hold slashes; every other is one segment of the path. */
function patternOf(template: string, parameters: readonly unknown[]): RegExp {
  const long = parameters.filter((parameter) => member(parameter, 'x-multi-segment') === true)
  const parts = template.split(/(\{[^}]+\})/).map((part, index) => {
    if (index % 2 === 0) return part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
    return long.some((parameter) => member(parameter, 'name') === part.slice(1, -1)) ? '(.+)' : '([^/]+)'
  })
  return new RegExp(`^${parts.join('')}$`)
}

/** Swagger 2 writes the schema into the parameter itself, where `required` means something else. */
function parameterOf(parameter: unknown): Parameter {
  const inline = entries(parameter).filter(([key]) => !['name', 'in', 'required'].includes(key))
  const schema = member(parameter, 'schema')
  const repeated = schema === undefined ? member(parameter, 'collectionFormat') === 'multi' : undefined
  return {
    name: textMember(parameter, 'name') ?? '',
    place: textMember(parameter, 'in') ?? '',
    required: member(parameter, 'required') === true,
    schema: schema ?? Object.fromEntries(inline),
    commas: repeated === false || member(parameter, 'explode') === false,
  }
}

function bodyOf(document: unknown, operation: unknown, parameters: readonly unknown[]): Body | undefined {
  const body = resolved(document, member(operation, 'requestBody'))
  if (isRecord(body)) {
    const mediaTypes = entries(member(body, 'content')).map(([type]) => type)
    return { required: member(body, 'required') === true, mediaTypes, schema: schemaOf(body) }
  }
  const parameter = parameters.find((candidate) => member(candidate, 'in') === 'body')
  if (parameter === undefined) return undefined
  const mediaTypes = elements(member(operation, 'consumes') ?? member(document, 'consumes')).map(String)
  const required = member(parameter, 'required') === true
  return { required, mediaTypes, schema: member(parameter, 'schema') }
}

/** The schema of what is sent as JSON: below `content` in OpenAPI 3, bare in Swagger 2. */
function schemaOf(carrier: unknown): unknown {
  const json = entries(member(carrier, 'content')).find(([type]) =>
    /^application\/(?:.*\+)?json\b/.test(type),
  )
  return member(json?.[1], 'schema') ?? member(carrier, 'schema')
}
