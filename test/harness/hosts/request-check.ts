import { entries } from '../../../functions/domain/json-value.ts'
import { objectionsTo } from './conformity.ts'
import { operationsOf } from './operations.ts'
import type { Operation, OperationTable } from './operations.ts'
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

/** A path that means another one to a host: `to` replaces the first match of `from`. */
export interface Alias {
  readonly from: RegExp
  readonly to: string
}

/** A host's table of operations, as a check of requests and answers. */
export interface RequestCheck {
  /**
   * What the table does not allow of a request: one sentence each; none: it is allowed. A field at the top of the body
   * that the table does not name is included: a host would drop it silently.
   */
  complaints(request: HostRequest): readonly string[]
  /** What the table does not allow of the answer to such a request: a status, or what the answer to success shows. */
  answerComplaints(request: HostRequest, status: number, body: unknown): readonly string[]
}

/** Makes the check from the table. */
export function requestCheck(table: OperationTable, aliases: readonly Alias[] = []): RequestCheck {
  const operations = operationsOf(table)
  const asNamed = (path: string): string =>
    aliases.reduce((known, { from, to }) => known.replace(from, to), path)

  return {
    complaints(request) {
      const path = asNamed(request.path)
      const found = operationFor(operations, { ...request, path })
      if (typeof found === 'string') return [found]
      const objections = [
        ...pathObjections(found, path),
        ...queryObjections(found, request.query),
        ...bodyObjections(found, request),
      ]
      return objections.map((objection) => `${found.method} ${found.template}: ${objection}.`)
    },
    answerComplaints(request, status, body) {
      const found = operationFor(operations, { ...request, path: asNamed(request.path) })
      if (typeof found === 'string') return [found]
      const { statuses, shows } = found
      const line = `${status} of ${found.method} ${found.template}`
      if (!statuses.includes(status)) return [`${line}: it does not answer with that status.`]
      if (shows === undefined || status >= 300) return []
      return objectionsTo(body, shows).map((phrase) => `${line}: the body ${phrase}.`)
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

function bodyObjections(operation: Operation, request: HostRequest): readonly string[] {
  const { body = {}, bodySchema, bodyRequired, alsoTakes } = operation
  if (request.body === undefined) return bodyRequired === true ? ['the body is missing'] : []
  if (bodySchema === undefined) return ['it takes no body']
  const mediaType = request.contentType?.split(';')[0]?.trim().toLowerCase() ?? 'none'
  const taken = ['application/json', alsoTakes].includes(mediaType)
  const refused = taken ? [] : [`it does not take a body of type ${mediaType}`]
  const unnamed = entries(request.body)
    .filter(([field]) => !Object.hasOwn(body, field))
    .map(([field]) => `it knows no field ${field}`)
  return [
    ...refused,
    ...unnamed,
    ...objectionsTo(request.body, bodySchema).map((phrase) => `the body ${phrase}`),
  ]
}
