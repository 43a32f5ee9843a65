import { parseBounded } from './bounded-json.ts'
import { elements, entries, isRecord, member, textMember } from '../domain/json-value.ts'
import { readRetryAfter } from '../domain/network/retry-after.ts'
import type { Endpoint } from '../domain/pull-request/pull-requests.ts'
import { LONGEST_RETRY_AFTER_S } from '../domain/resource/backoff.ts'

/** An API's answer. */
export interface ApiAnswer {
  readonly status: number
  readonly headers: Pick<Headers, 'get'>
  /** Parsed JSON; a string if it is not JSON; undefined if it exceeds the bounds. */
  readonly data: unknown
}

/**
 * Reads the response of an Endpoint's `fetch`, for any status and any content type, within the bounds of
 * `parseBounded` and of the Endpoint, in the share of the caller's namespace: one of 64 KiB may take 6 ms, and one of 4 MiB 80. Every
 * provider reads answers with this function only, including those that use a library.
 */
export async function parseAnswer(
  response: Response,
  { share, mayHave }: Pick<Endpoint, 'share' | 'mayHave'>,
): Promise<ApiAnswer> {
  const { status, headers } = response
  const bytes = await response.bytes()
  const data = await share(() => parseBounded(new TextDecoder().decode(bytes), mayHave))
  return { status, headers, data }
}

/** How deep messages are searched for in an answer, and how many are read on each level. */
const DEEPEST = 3
const MOST_WORDS = 10
/** How much of a message is read, in characters: more than `redact` reads, so that it knows that there was more. */
const LONGEST_WORDS = 65_536

/**
 * The host's own message: the texts in `message` or `error` of an answer, or the whole answer if it is a text.
 * Undefined: there is none, or the answer is a web page.
 */
export function textOf(data: unknown): string | undefined {
  if (typeof data === 'string') return isMarkup(data) ? undefined : readable(data)
  const words = wordsIn(member(data, 'message') ?? member(data, 'error'), DEEPEST)
  return words === '' ? undefined : words
}

/** A message of a host, as far as it is read: the beginning. */
export function readable(words: string): string {
  return words.slice(0, LONGEST_WORDS)
}

/** A member that is a message of a host, as far as it is read; undefined: there is none. */
export function wordsMember(value: unknown, key: string): string | undefined {
  const words = textMember(value, key)
  return words === undefined ? undefined : readable(words)
}

function isMarkup(text: string): boolean {
  return readable(text).trimStart().startsWith('<')
}

/** All texts in the value, each after the name of its member. */
function wordsIn(content: unknown, depth: number): string {
  if (typeof content === 'string') return readable(content)
  if (depth === 0) return ''
  const inner = isRecord(content)
    ? entries(content)
        .slice(0, MOST_WORDS)
        .map(([name, value]) => [`${readable(name)}: `, wordsIn(value, depth - 1)] as const)
    : elements(content)
        .slice(0, MOST_WORDS)
        .map((value) => ['', wordsIn(value, depth - 1)] as const)
  return inner
    .filter(([, words]) => words !== '')
    .map(([name, words]) => `${name}${words}`)
    .join('; ')
}

/**
 * How long the host does not want to be called: whole seconds, from one to an hour. Read from Retry-After (RFC 9110,
 * 10.2.3), else from the time in the header `resetHeader` (seconds since 1970), both measured by the host's clock.
 * Undefined if neither can be read.
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

/** Whether it is a host's number of a pull request, a user or a repository: an integer from 1 to 2^53 - 1. */
export function isSerialNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}
