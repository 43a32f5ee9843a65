import { readFileSync } from 'node:fs'
import { entries, isRecord, member } from '../../../functions/domain/member.ts'

/** What says nothing of requests; a list of tags is prose as well. */
const PROSE = ['description', 'summary', 'example', 'examples', 'externalDocs', 'tags']
/** The keys in there are names of the host's, such as `description`. */
const NAMED = ['properties', 'definitions', 'schemas']
const SHARED = ['paths', 'components', 'definitions', 'parameters', 'responses']
const REFERENCE = /"\$ref":"#\/([^"]+)"/g
const SOURCE = { document: '', version: '', retrieved: '', licence: '', cut: '' }

/**
 * Cuts an OpenAPI 3 or Swagger 2 document down to these operations (`POST /repos/{owner}/{repo}/pulls`) and to what
 * they refer to, without prose; whose it is has to be filled in. Throws an error where there is no such operation.
 */
export function cutDescription(document: unknown, operations: readonly string[]): unknown {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const operation of operations) {
    const [method = '', path = ''] = operation.split(' ')
    const item = member(member(document, 'paths'), path)
    const found = member(item, method.toLowerCase())
    if (found === undefined) throw new Error(`There is no ${operation}.`)
    const common = member(item, 'parameters')
    paths[path] = {
      ...(common === undefined ? {} : { parameters: bare(common) }),
      ...paths[path],
      [method.toLowerCase()]: bare(found),
    }
  }
  const top = entries(bare(document)).filter(([key]) => !SHARED.includes(key))
  const needed = referred(document, paths)
  return { 'x-commitlet-source': SOURCE, ...Object.fromEntries(top), paths, ...needed }
}

/** Without prose. `named`: the keys are names of the host's. */
function bare(value: unknown, named = false): unknown {
  if (Array.isArray(value)) return value.map((one) => bare(one))
  if (!isRecord(value)) return value
  const left = entries(value).filter(([key]) => named || !PROSE.includes(key))
  return Object.fromEntries(left.map(([key, one]) => [key, bare(one, !named && NAMED.includes(key))]))
}

/** What is referred to, directly or not, each in its place in the document. */
function referred(document: unknown, from: unknown): object {
  const found = new Map<string, unknown>()
  const open: unknown[] = [from]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const [, pointer = ''] of JSON.stringify(next).matchAll(REFERENCE)) {
      if (found.has(pointer)) continue
      const part = bare(keysOf(pointer).reduce<unknown>(member, document))
      if (part === undefined) throw new Error(`There is nothing at #/${pointer}.`)
      found.set(pointer, part)
      open.push(part)
    }
  }
  return [...found].reduce<object>((all, [pointer, part]) => put(all, keysOf(pointer), part), {})
}

function put(into: unknown, [key, ...rest]: readonly string[], part: unknown): object {
  const there = isRecord(into) ? into : {}
  if (key === undefined) return isRecord(part) ? part : there
  return { ...there, [key]: put(member(there, key), rest, part) }
}

/** RFC 6901, section 4. */
function keysOf(pointer: string): readonly string[] {
  return pointer.split('/').map((key) => key.replaceAll('~1', '/').replaceAll('~0', '~'))
}

if (import.meta.main) {
  const [file = '', ...operations] = process.argv.slice(2)
  const document: unknown = JSON.parse(readFileSync(file, 'utf8'))
  process.stdout.write(`${JSON.stringify(cutDescription(document, operations), undefined, 2)}\n`)
}
