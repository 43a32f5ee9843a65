import type { Alias } from '../description.ts'

/** One request and what the host's description says of it. */
export interface Case {
  /** `POST /path?query`; the query is optional. */
  readonly line: string
  readonly body?: unknown
  /** application/json where it is absent and there is a body. */
  readonly contentType?: string
  /** What the complaints have to match, one each; absent: there are none. */
  readonly says?: readonly RegExp[]
}

/** The table of a host: requests that its description allows, and requests that it does not. */
export interface HostCases {
  readonly name: string
  readonly aliases?: readonly Alias[]
  readonly cases: readonly Case[]
}
