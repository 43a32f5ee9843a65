import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord } from '../../../functions/domain/json-value.ts'
import type { HostRequest } from './request-check.ts'

/** A request with the verdict that was recorded for it. */
export interface RecordedRequest {
  /** Identifies the request. */
  readonly title: string
  readonly request: HostRequest
  /** The reasons of the refusal, such as `query state` or `body /title`; empty: it is allowed. */
  readonly refusedFor: readonly string[]
  /** One field was varied: `refusedFor` holds that field, and the refusal may name a part of it or its parent. */
  readonly varied: boolean
}

interface Line {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: unknown
  readonly contentType: string | undefined
}

const REQUEST =
  /^([+-]) ([A-Z]+) ([^? ]+)(?:\?(\S*))?(?: (?!=> |\[\w+\/)(\S.*?))?(?: \[(\S+\/[^\]]+)\])?(?: => (.+))?$/
const VARIANTS = /^ {2}(query|body|path) (\S+):((?: \S+)+)$/

/** The recorded requests of the host with this name. Throws an error where there is no file of them. */
export function recordedRequests(name: string): readonly RecordedRequest[] {
  return readRequests(readFileSync(join(import.meta.dirname, 'recorded', `${name}.txt`), 'utf8'))
}

/** Reads requests as recorded/README.md says that they are written. Throws an error at a line that is not written so. */
export function readRequests(lines: string): readonly RecordedRequest[] {
  const found: RecordedRequest[] = []
  let base: Line | undefined
  let template = ''
  for (const text of lines.split('\n')) {
    if (text.startsWith('#')) template = /\S+$/.exec(text)?.[0] ?? ''
    if (text === '' || text.startsWith('#')) continue
    const [, verdict, method = '', path = '', query = '', body, contentType, fields = ''] =
      REQUEST.exec(text) ?? []
    if (verdict === undefined) {
      if (base === undefined) throw new Error(`No allowed request stands before "${text}".`)
      found.push(...variants(base, template, text))
      continue
    }
    const line = { method, path, query, body: body === undefined ? undefined : parsed(body), contentType }
    if (verdict === '+') base = line
    const refusedFor = verdict === '-' ? fields.split(', ') : []
    found.push({ title: text.slice(2), request: requestOf(line), refusedFor, varied: false })
  }
  return found
}

function variants(base: Line, template: string, text: string): readonly RecordedRequest[] {
  const [, place = '', field = '', values = ''] = VARIANTS.exec(text) ?? []
  if (place === '') throw new Error(`This is neither a request nor the variants of one: "${text}".`)
  let allowed = true
  return values
    .trim()
    .split(' ')
    .flatMap((value) => {
      if (value === '+' || value === '-') {
        allowed = value === '+'
        return []
      }
      const line = varied(base, { place, field, value, template })
      const title = `${base.method} ${base.path} with ${place} ${field} ${value}`
      const refusedFor = allowed ? [] : [place === 'body' ? `body /${field}` : `${place} ${field}`]
      return [{ title, request: requestOf(line), refusedFor, varied: true }]
    })
}

interface Variant {
  readonly place: string
  readonly field: string
  readonly value: string
  readonly template: string
}

function varied(base: Line, { place, field, value, template }: Variant): Line {
  if (place === 'body') return { ...base, body: withMember(base.body, field.split('/'), parsed(value)) }
  if (place === 'path') return { ...base, path: withSegment(base.path, { field, value, template }) }
  const others = base.query.split('&').filter((pair) => pair !== '' && !pair.startsWith(`${field}=`))
  return { ...base, query: [...others, `${field}=${value === '""' ? '' : value}`].join('&') }
}

function withMember(body: unknown, [key, ...rest]: readonly string[], value: unknown): unknown {
  if (key === undefined) return value
  if (key === '0') return [withMember(Array.isArray(body) ? body[0] : undefined, rest, value)]
  const before = isRecord(body) ? body : {}
  return { ...before, [key]: withMember(before[key], rest, value) }
}

function withSegment(path: string, { field, value, template }: Omit<Variant, 'place'>): string {
  const at = template.split('/').indexOf(`{${field}}`)
  return path.split('/').with(at, value).join('/')
}

function requestOf({ method, path, query, body, contentType = 'application/json' }: Line): HostRequest {
  return {
    method,
    path,
    query: new URLSearchParams(query),
    contentType: body === undefined ? undefined : contentType,
    body,
  }
}

function parsed(json: string): unknown {
  return JSON.parse(json)
}
