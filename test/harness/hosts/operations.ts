import { openObject, INTEGER, TEXT } from './field-types.ts'
import type { Fields, Schema } from './field-types.ts'

/** The requests and answers of one method of one path; the tables below operations/ consist of it. */
export interface OperationRow {
  readonly query?: Fields
  /** Fields at the top of the body; absent: it takes none. */
  readonly body?: Fields
  /** A media type that it accepts in addition to JSON. */
  readonly alsoTakes?: string
  /** A request without a body is refused. */
  readonly bodyRequired?: true
  /** The required fields, in the query or else in the body; with blanks between the names. */
  readonly needs?: string
  /** Those that the host documents. */
  readonly statuses: readonly number[]
  /** The fields of a successful answer, as far as our providers read them; absent: it is not checked. */
  readonly shows?: Schema
}

/**
 * By method and path below the API's base: `GET /repos/{owner}/{repo}/pulls/{index:integer}`. A name in braces stands for
 * one segment, and holds text or what is written behind it; `segments` may hold slashes.
 */
export type OperationTable = Readonly<Record<string, OperationRow>>

/** A name in braces of a path. */
export interface PathName {
  readonly name: string
  readonly schema: Schema
}

/** One method of one path. */
export interface Operation extends OperationRow {
  readonly method: string
  /** Without the types: `/repos/{owner}/{repo}/pulls/{index}`. */
  readonly template: string
  /** Has one group for each of `names`, in their order; a group holds the text still percent-encoded. */
  readonly pattern: RegExp
  readonly names: readonly PathName[]
  /** Names in the query without which a request is refused. */
  readonly queryNeeds: readonly string[]
  /** The schema of `body`. */
  readonly bodySchema: Schema | undefined
}

const NAME = /\{(\w+)(?::(integer|segments))?\}/

/** The operations of a table, those with the fewest names in their paths first. */
export function operationsOf(table: OperationTable): readonly Operation[] {
  return Object.entries(table)
    .map(([line, row]) => operationOf(line, row))
    .toSorted((one, other) => one.names.length - other.names.length)
}

function operationOf(line: string, row: OperationRow): Operation {
  const [method = '', path = ''] = line.split(' ')
  const { query = {}, body, needs = '' } = row
  const needed = needs.split(' ').filter((name) => name !== '')
  const inBody = needed.filter((name) => !Object.hasOwn(query, name))
  return {
    ...row,
    method,
    template: path.replaceAll(new RegExp(NAME, 'g'), '{$1}'),
    pattern: patternOf(path),
    names: [...path.matchAll(new RegExp(NAME, 'g'))].map(([, name = '', type]) => ({
      name,
      schema: type === 'integer' ? INTEGER : TEXT,
    })),
    queryNeeds: needed.filter((name) => Object.hasOwn(query, name)),
    bodySchema: body === undefined ? undefined : openObject(body, inBody.join(' ')),
  }
}

function patternOf(path: string): RegExp {
  const parts = path.split(/(\{[^}]+\})/).map((part, index) => {
    if (index % 2 === 0) return part.replaceAll(/[.*+?^$()|[\]\\]/g, '\\$&')
    return NAME.exec(part)?.[2] === 'segments' ? '(.+)' : '([^/]+)'
  })
  return new RegExp(`^${parts.join('')}$`)
}
