import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { elements, entries, isRecord, member } from '../../../functions/domain/member.ts'
import { conformityTo } from './conformity.ts'
import type { Conformity } from './conformity.ts'
import { corrected } from './corrections.ts'
import { operationsOf, resolved } from './operations.ts'
import type { Operation } from './operations.ts'
import { pathObjections, queryObjections } from './parameters.ts'

/** A request as it arrived at a host. */
export interface HostRequest {
  readonly method: string
  /** Path below the API's base, still percent-encoded. */
  readonly path: string
  readonly query: URLSearchParams
  /** The header; undefined: none came. */
  readonly contentType: string | undefined
  /** Parsed JSON; undefined: no body. */
  readonly body: unknown
}

/** A path that a host takes for another one: `to` is what the first match of `from` is replaced with. */
export interface Alias {
  readonly from: RegExp
  readonly to: string
}

/** What a host has published of its API, as far as we use it. */
export interface Description {
  /**
   * What the host's own description would not allow of a request: one sentence each; none: it is allowed. Fields of
   * the body that the description does not name are among it, whatever it says of additional ones: the host would
   * drop them without a word.
   */
  complaints(request: HostRequest): readonly string[]
  /** The same for the host's answer; none where the description says nothing of answers with that status. */
  answerComplaints(request: HostRequest, status: number, body: unknown): readonly string[]
}

const FOLDER = join(import.meta.dirname, '../../providers/descriptions')

/** Reads test/providers/descriptions/NAME.json. Throws an error where there is none, or where it is not JSON. */
export function readDescription(name: string, aliases: readonly Alias[] = []): Description {
  const document = corrected(name, JSON.parse(readFileSync(join(FOLDER, `${name}.json`), 'utf8')))
  const operations = operationsOf(document)
  const conformity = conformityTo(document)
  const asDescribed = (path: string): string =>
    aliases.reduce((known, { from, to }) => known.replace(from, to), path)

  return {
    complaints(request) {
      const path = asDescribed(request.path)
      const found = operationFor(operations, { ...request, path })
      if (typeof found === 'string') return [found]
      const objections = [
        ...pathObjections(found, path, conformity),
        ...queryObjections(found, request.query, conformity),
        ...bodyObjections(found, request, { document, conformity }),
      ]
      return objections.map((objection) => `${found.method} ${found.template}: ${objection}.`)
    },
    answerComplaints(request, status, body) {
      const found = operationFor(operations, { ...request, path: asDescribed(request.path) })
      const schema = typeof found === 'string' ? undefined : found.answers.get(String(status))
      if (typeof found === 'string' || schema === undefined) return []
      return conformity(schema, body).map(
        (phrase) => `${status} of ${found.method} ${found.template}: the body ${phrase}.`,
      )
    },
  }
}

/** The operation, or a sentence on why there is none. */
function operationFor(operations: readonly Operation[], { method, path }: HostRequest): Operation | string {
  const template = operations.find(({ pattern }) => pattern.test(path))?.template
  if (template === undefined) return `There is no path ${path}.`
  const found = operations.find((one) => one.template === template && one.method === method.toUpperCase())
  return found ?? `There is no method ${method} for ${template}.`
}

interface Meaning {
  readonly document: unknown
  readonly conformity: Conformity
}

function bodyObjections(
  { body }: Operation,
  request: HostRequest,
  { document, conformity }: Meaning,
): readonly string[] {
  if (request.body === undefined) return body?.required === true ? ['the body is missing'] : []
  if (body === undefined) return ['it takes no body']
  const mediaType = request.contentType?.split(';')[0]?.trim().toLowerCase() ?? 'none'
  const refused = body.mediaTypes.includes(mediaType) ? [] : [`it does not take a body of type ${mediaType}`]
  const named = namedFields(document, body.schema)
  const unnamed = entries(request.body)
    .filter(([field]) => named?.has(field) === false)
    .map(([field]) => `it knows no field ${field}`)
  return [
    ...refused,
    ...unnamed,
    ...conformity(body.schema, request.body).map((phrase) => `the body ${phrase}`),
  ]
}

/** The fields at the top of a body; undefined where the schema names none, or has one schema for all others. */
function namedFields(document: unknown, schema: unknown): ReadonlySet<string> | undefined {
  const found = resolved(document, schema)
  if (isRecord(member(found, 'additionalProperties'))) return undefined
  const parts = ['allOf', 'anyOf', 'oneOf'].flatMap((word) => elements(member(found, word)))
  const names = [
    ...entries(member(found, 'properties')).map(([name]) => name),
    ...parts.flatMap((part) => [...(namedFields(document, part) ?? [])]),
  ]
  return names.length === 0 ? undefined : new Set(names)
}
