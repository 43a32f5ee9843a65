import type { ServerResponse } from 'node:http'
import { github } from '../test/harness/hosts/github.ts'

/** Milliseconds since 1970 of a time that only passes where the bench says so. */
export interface Clock {
  now: number
}

/**
 * How many requests a token has in a window of a minute, which begins with the first of them. `primary`: all count,
 * and the host says when the window ends; `secondary`: those that create something count, and it does not say.
 */
export interface Limit {
  readonly kind: 'primary' | 'secondary'
  readonly most: number
}

/** A limit at work. */
export interface Limits {
  /** Answers the request itself where the window is used up; else puts the usual headers on what will be answered. */
  refuses(method: string, response: ServerResponse): boolean
  /** Requests so far. */
  answered(): number
  refused(): number
}

const WINDOW_MS = 60_000
/** What GitHub's hourly limit reads while a secondary one is reached: a reset that says nothing of it. */
const HOURLY = { most: 5000, left: 4321, resetAfterMs: 3_000_000 }

/** Puts it to work: the windows, and what the answers say of them, go by this clock. */
export function limitsBy({ kind, most }: Limit, clock: Clock): Limits {
  let window = { end: 0, used: 0 }
  let answered = 0
  let refused = 0

  /** What the token has left, below 0 where it has asked for too much. */
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
