import type { HostAnswer, HostCall } from './dialect.ts'

const LONGEST_PAGE = 50
const USUAL_PAGE = 30

/** A missing branch, repository or pull request, and what the token must not see: all have one answer. */
export const NOT_FOUND: HostAnswer = {
  status: 404,
  body: { errors: null, message: 'not found', url: 'https://localhost/api/swagger' },
}

export function error(status: number, message: string): HostAnswer {
  return { status, body: { message, url: 'https://localhost/api/swagger' } }
}

/** A page of a list, with the headers about the other pages. Pages above 50 are cut silently. */
export function page<T>(call: HostCall, all: readonly T[], write: (one: T) => unknown): HostAnswer {
  const { query, origin, apiPath, path } = call
  const limit = Math.min(Number(query.get('limit') ?? USUAL_PAGE), LONGEST_PAGE)
  const number = Number(query.get('page') ?? 1)
  const next = new URLSearchParams(query)
  next.set('page', String(number + 1))
  const more = all.length > number * limit
  return {
    status: 200,
    headers: {
      'x-total-count': String(all.length),
      ...(more ? { link: `<${origin}${apiPath}${path}?${next.toString()}>; rel="next"` } : {}),
    },
    body: all.slice((number - 1) * limit, number * limit).map(write),
  }
}
