import type { HostModel } from './model.ts'
import type { OperationTable } from './operations.ts'
import type { Alias } from './request-check.ts'

/** The dialect of a host: its routes, and its literal answers to errors. */
export interface Dialect {
  /** As in functions/domain/repository/hosts.ts. */
  readonly name: string
  /** Path of the API on the stand-in, such as /api/v3; empty: at its top. */
  readonly apiPath: string
  /** It has a GraphQL API as well: beside `/v3`, or at the top of a public API. Its path is `/graphql` to the routes. */
  readonly graphQL?: true
  /** The first one that matches answers. */
  readonly routes: readonly Route[]
  /** The repository's path in a request, below `apiPath`; undefined: the request is about none. */
  repositoryOf(path: string): readonly string[] | undefined
  /** The token or password that a request carries. */
  tokenOf(headers: Headers): string | undefined
  readonly answers: LiteralAnswers
  /** The answer to what only an App may ask, which logs in in another way; undefined: it is no such request. */
  answerToApp?(
    request: Pick<HostCall, 'path' | 'body'> & { readonly method: string },
    headers: Headers,
    model: HostModel,
  ): HostAnswer | undefined
  /** The operations of the host: every other request is refused. */
  readonly operations: OperationTable
  /** Paths that mean the same to the host as those of its operations. */
  readonly aliases?: readonly Alias[]
}

/** The path of a request below that of the API; undefined: it is not for the API. */
export function pathBelow({ apiPath, graphQL }: Dialect, pathname: string): string | undefined {
  if (graphQL === true && pathname === `${apiPath.replace(/\/v3$/, '')}/graphql`) return '/graphql'
  return pathname.startsWith(`${apiPath}/`) ? pathname.slice(apiPath.length) : undefined
}

/** The literal answers of a host, with its headers, as measured. */
export interface LiteralAnswers {
  readonly unauthorised: HostAnswer
  /** The token may read, but not do this; `needed` is named in the words of the host. */
  readonly missingScope: HostAnswer
  /** The scope or permission that the sentence for the user has to name. */
  readonly needed: string
  readonly notFound: HostAnswer
  readonly archived: HostAnswer
  /** Too many requests, with the host's own time in seconds from now, or without one. */
  rateLimited(seconds: number | undefined): HostAnswer
  /** Answers to a request about a repository that was renamed to `place`. */
  moved(request: HostCall, place: readonly string[]): HostAnswer
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH'
  /** Over the path below `apiPath`, still percent-encoded. */
  readonly path: RegExp
  answer(call: HostCall, model: HostModel): HostAnswer | Promise<HostAnswer>
}

/** A request that a route gets. */
export interface HostCall {
  /** Without the path of the API. */
  readonly path: string
  readonly match: RegExpExecArray
  readonly query: URLSearchParams
  /** Parsed JSON; undefined: none. */
  readonly body: unknown
  /** Where the stand-in is, such as https://localhost:1234 (for addresses in answers). */
  readonly origin: string
  readonly apiPath: string
  /** The token that it carries. */
  readonly token: string
}

export interface HostAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** JSON, or text where it is a string. */
  readonly body: unknown
}
