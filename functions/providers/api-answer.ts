import { parseBounded } from './bounded-json.ts'
import { elements, entries, isRecord, member } from '../domain/json-value.ts'
import { readRetryAfter } from '../domain/network/retry-after.ts'
import { LONGEST_RETRY_AFTER_S } from '../domain/resource/backoff.ts'

/** What an API answered. */
export interface ApiAnswer {
  readonly status: number
  readonly headers: Pick<Headers, 'get'>
  /** Parsed JSON; a string where it is something else; undefined where it is more than is read. */
  readonly data: unknown
}

/**
 * Reads what `fetch` of an Endpoint has answered, whatever its status and whatever it calls itself. What is read is
 * bounded as `parseBounded` tells. Every provider reads by this alone, the libraries of hosts included.
 */
export async function parseAnswer(response: Response): Promise<ApiAnswer> {
  const { status, headers } = response
  return { status, headers, data: parseBounded(await response.text()) }
}

/** How far words are looked for in an answer, and how many on each level. */
const DEEPEST = 3
const MOST_WORDS = 10

/**
 * The host's own words: what stands in `message` or `error` of an answer, whatever is within, or is all of it.
 * Undefined: there are none, or it is a page.
 */
export function textOf(data: unknown): string | undefined {
  if (typeof data === 'string') return /^\s*</.test(data) ? undefined : data
  const said = wordsIn(member(data, 'message') ?? member(data, 'error'), DEEPEST)
  return said === '' ? undefined : said
}

/** Every text within, the name of its member before it. */
function wordsIn(said: unknown, depth: number): string {
  if (typeof said === 'string') return said
  if (depth === 0) return ''
  const inner = isRecord(said)
    ? entries(said)
        .slice(0, MOST_WORDS)
        .map(([name, value]) => [`${name}: `, wordsIn(value, depth - 1)] as const)
    : elements(said)
        .slice(0, MOST_WORDS)
        .map((value) => ['', wordsIn(value, depth - 1)] as const)
  return inner
    .filter(([, words]) => words !== '')
    .map(([name, words]) => `${name}${words}`)
    .join('; ')
}

/**
 * For how long the host does not want to be called: whole seconds, from one to an hour. By Retry-After (RFC 9110,
 * 10.2.3), else by the moment in the header that is named here (seconds since 1970), both by the host's own
 * clock. Undefined where it names none that can be read.
 */
export function retryAfterOf({ headers }: ApiAnswer, resetHeader: string | undefined): number | undefined {
  const now = Date.parse(headers.get('date') ?? '')
  const after = readRetryAfter(headers.get('retry-after') ?? '', now)
  const seconds = after ?? (resetOf(headers, resetHeader) - now) / 1000
  return Number.isNaN(seconds) ? undefined : bounded(seconds)
}

function bounded(seconds: number): number {
  return Math.min(Math.max(1, Math.ceil(seconds)), LONGEST_RETRY_AFTER_S)
}

function resetOf(headers: ApiAnswer['headers'], name: string | undefined): number {
  const reset = name === undefined ? null : headers.get(name)
  return reset !== null && /^\d{1,12}$/.test(reset.trim()) ? Number(reset) * 1000 : NaN
}

/** The number that a host has given to a pull request, a person or a repository: whole, from 1 to 2^53 - 1. */
export function isSerialNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}
