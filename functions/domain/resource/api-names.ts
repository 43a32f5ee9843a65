/** The API group, its version and the names that the CRDs, the code and the log lines share. */
export const GROUP = 'commitlet.dev'
export const VERSION = 'v1'
export const API_VERSION = `${GROUP}/${VERSION}`

/** Both kinds and their plural names in the API. */
export const PLURALS = { GitCommit: 'gitcommits', PullRequest: 'pullrequests' } as const

export type Kind = keyof typeof PLURALS
export const KINDS = ['GitCommit', 'PullRequest'] as const satisfies readonly Kind[]

/** Annotations of the resources (and, the last two, of Secrets). */
export const REQUESTED_AT = `${GROUP}/requested-at`
export const REQUESTED_BY = `${GROUP}/requested-by`
export const REQUESTER = `${GROUP}/requester`
export const REQUESTER_SIGNATURE = `${GROUP}/requester-signature`
/** The generation of the last request, where only `spec.suspend` has changed since. */
export const REQUEST_GENERATION = `${GROUP}/request-generation`
export const ALLOWED_REPOSITORIES = `${GROUP}/allowed-repositories`
export const ALLOWED_PATHS = `${GROUP}/allowed-paths`
