import type { HostAnswer, LiteralAnswers } from './dialect.ts'
import { REPOSITORY_ID } from './github-bodies.ts'

/** The literal answers of GitHub, as measured. */
export const LITERAL: LiteralAnswers = {
  unauthorised: said(401, 'Bad credentials'),
  missingScope: said(403, 'Resource not accessible by personal access token', {
    'x-accepted-github-permissions': 'pull_requests=write,contents=read; pull_requests=write',
  }),
  needed: 'pull_requests=write',
  notFound: said(404, 'Not Found'),
  archived: said(403, 'Repository was archived so is read-only.'),
  rateLimited(seconds) {
    if (seconds === undefined)
      return said(
        403,
        'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.',
      )
    const now = Math.floor(Date.now() / 1000)
    return said(403, 'API rate limit exceeded for user ID 1.', {
      date: new Date(now * 1000).toUTCString(),
      'x-ratelimit-limit': '5000',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(now + seconds),
      'x-ratelimit-resource': 'core',
    })
  },
  moved({ path, query, body, origin, apiPath }) {
    const rest = path.replace(/^\/repos\/[^/]+\/[^/]+/, '')
    const search = query.size === 0 ? '' : `?${query.toString()}`
    const url = `${origin}${apiPath}/repositories/${REPOSITORY_ID}${rest}${search}`
    const isRead = body === undefined
    return {
      status: isRead ? 301 : 307,
      headers: { location: url },
      body: {
        message: isRead ? 'Moved Permanently' : 'Temporary Redirect',
        url,
        documentation_url:
          'https://docs.github.com/rest/guides/best-practices-for-using-the-rest-api#follow-redirects',
      },
    }
  },
}

/** An error as GitHub writes it. */
export function said(status: number, message: string, headers: Record<string, string> = {}): HostAnswer {
  const documentation_url = 'https://docs.github.com/rest'
  return { status, headers, body: { message, documentation_url, status: String(status) } }
}
