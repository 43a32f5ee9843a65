import type { ServerResponse } from 'node:http'
import { github } from '../../test/harness/hosts/github.ts'

/** Virtual time in milliseconds since 1970. It passes only where the benchmark advances it. */
export interface Clock {
  now: number
}

/**
 * How many requests a token may make within a window of one minute, which begins with the first of them. `primary`:
 * all requests count, and the host says when the window ends. `secondary`: only requests that create something count,
 * and the host does not say.
 */
export interface Limit {
  readonly kind: 'primary' | 'secondary'
  readonly most: number
}

/** A limit in force. */
export interface Limits {
  /** Refuses the request if the window is used up. Otherwise adds the usual headers to the response. */
  refuses(method: string, response: ServerResponse): boolean
  /** Requests answered so far. */
  answered(): number
  refused(): number
}

const WINDOW_MS = 60_000
/** GitHub's hourly limit while a secondary limit is reached: its reset time says nothing about the secondary one. */
const HOURLY = { most: 5000, left: 4321, resetAfterMs: 3_000_000 }

/** Puts a limit into force. The windows and the headers follow this clock. */
export function limitsBy({ kind, most }: Limit, clock: Clock): Limits {
  let window = { end: 0, used: 0 }
  let answered = 0
  let refused = 0

  /** Requests that the token has left; below 0 if it has made too many. */
  function left(method: string): number {
    if (clock.now >= window.end) window = { end: clock.now + WINDOW_MS, used: 0 }
    if (kind === 'primary' || method === 'POST') window.used += 1
    return most - window.used
  }

  function hourly(remaining: number): Readonly<Record<string, number>> {
    const [all, rest, reset] =
      kind === 'primary'
        ? [most, Math.max(0, remaining), window.end]
        : [HOURLY.most, HOURLY.left, clock.now + HOURLY.resetAfterMs]
    return {
      'x-ratelimit-limit': all,
      'x-ratelimit-remaining': rest,
      'x-ratelimit-reset': Math.ceil(reset / 1000),
    }
  }

  return {
    answered: () => answered,
    refused: () => refused,
    refuses(method, response) {
      const remaining = left(method)
      const headers = { date: new Date(clock.now).toUTCString(), ...hourly(remaining) }
      for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
      const isLimited = remaining < 0 && (kind === 'primary' || method === 'POST')
      if (!isLimited) {
        answered += 1
        return false
      }
      refused += 1
      const { status, body } = github.answers.rateLimited(kind === 'primary' ? WINDOW_MS / 1000 : undefined)
      response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' })
      response.end(JSON.stringify(body))
      return true
    },
  }
}
