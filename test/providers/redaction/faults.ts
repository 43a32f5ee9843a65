import type { HostAnswer } from '../../harness/hosts/dialect.ts'
import type { ArrivedRequest, HostFault } from '../../harness/hosts/host-handler.ts'

/** A fault, and the requests that it affects. */
export interface Wrong {
  readonly name: string
  /** A short run has one of each row. */
  readonly row: string
  readonly fault: HostFault
}

/** Of each list a short run has one: hosts and Commitlet treat them in much the same way. */
const STATUSES = [
  [200, 201, 202, 204],
  [301, 307],
  [400, 409, 410, 413, 422, 423, 451],
  [401, 403, 404],
  [429],
  [500, 502, 503, 555],
] as const

/** Beginnings of host messages; a provider recognises each of these, and may quote what follows. */
const WORDS: readonly string[] = [
  'Validation Failed: No commits between',
  'Validation Failed: A pull request already exists for',
  'Draft pull requests are not supported in this repository.',
  'Resource not accessible by personal access token',
  'Resource protected by organization SAML enforcement. You must grant your Personal Access token access',
  'Although you appear to have the correct authorization credentials, the organization has an IP allow list enabled',
  'Repository was archived so is read-only.',
  'You have exceeded a secondary rate limit.',
  'Bad credentials',
  'Another open merge request already exists for this source branch: !5',
  'Target project has disabled merge requests',
  'insufficient_scope',
  'There are no changes to be pulled',
  'source: branch not found:',
  'Your credentials lack one or more required privilege scopes.',
  'Malformed reviewers list',
  'token does not have at least one of required scope(s), required=[write:repository], token scope=',
  "Reviewer can't read",
]
const WORDED = [400, 403, 409, 422]

/** Every answer holds the whole request, headers included, in every place that a provider may read. */
export const WRONGS: readonly Wrong[] = [
  ...STATUSES.flatMap((alike) =>
    alike.map((status) => ({ ...echoed(`${status} with an echo`, status, ''), row: alike.join() })),
  ),
  ...WORDED.flatMap((status) =>
    WORDS.map((words) => ({ ...echoed(`${status} "${words}"`, status, words), row: `${status} with words` })),
  ),
  { name: 'a page with an echo', row: 'a page', fault: { kind: 'reply', reply: page } },
  { name: 'cut JSON with an echo', row: 'cut JSON', fault: { kind: 'reply', reply: cut } },
  { name: 'a list with an echo', row: 'a list', fault: { kind: 'reply', reply: list } },
  { name: 'a lost answer', row: 'a lost answer', fault: { kind: 'lost answer' } },
]

function echoed(name: string, status: number, words: string): Wrong {
  const reply = (request: ArrivedRequest): HostAnswer => ({
    status,
    headers: headersOf(request),
    body: bodyOf(request, words),
  })
  return { name, row: name, fault: { kind: 'reply', reply } }
}

/** Only the login, as a server may put it into a header. */
function headersOf({ headers, origin }: ArrivedRequest): Readonly<Record<string, string>> {
  const login = (headers.get('authorization') ?? '').replace(/[^\x20-\x7e]/g, '?')
  return {
    location: `${origin}/repositories/1/pulls?login=${encodeURIComponent(login)}`,
    'x-github-sso': `required; url=https://github.com/orgs/acme/sso?${encodeURIComponent(login)}`,
    'x-accepted-github-permissions': login,
    'x-accepted-oauth-scopes': login,
    'x-oauth-scopes': login,
    link: `<${origin}/?page=2&login=${encodeURIComponent(login)}>; rel="next"`,
  }
}

function bodyOf(request: ArrivedRequest, words: string): unknown {
  const said = `${words} ${told(request)}`
  return {
    type: 'error',
    message: said,
    errors: [{ resource: 'PullRequest', field: said, code: 'custom', message: said }, said],
    error:
      words === 'insufficient_scope' ? words : { message: said, detail: detailOf(said), fields: { said } },
    error_description: said,
    scope: said,
    documentation_url: said,
    values: [],
    number: said,
    html_url: said,
    title: said,
  }
}

function detailOf(said: string): unknown {
  return { required: [said, login(said)], granted: [said] }
}

/** The end of it, which is the login. */
function login(said: string): string {
  return said.slice(said.lastIndexOf('\n') + 1)
}

/** The request as it came, with its login again at the end. */
function told({ method, url, headers, body }: ArrivedRequest): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`)
  const secret = (headers.get('authorization') ?? '').replace(/^\S+ /, '')
  return [secret, `${method} ${url}`, ...lines, body, secret].join('\n')
}

function page(request: ArrivedRequest): HostAnswer {
  const headers = { 'content-type': 'text/html' }
  return { status: 200, headers, body: `<!doctype html><pre>${told(request)}</pre>` }
}

function cut(request: ArrivedRequest): HostAnswer {
  const headers = { 'content-type': 'application/json' }
  return { status: 201, headers, body: `{"message": ${JSON.stringify(told(request))}, "` }
}

function list(request: ArrivedRequest): HostAnswer {
  return { status: 422, body: [told(request), { message: [told(request)] }] }
}
