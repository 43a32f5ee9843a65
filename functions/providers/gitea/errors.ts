import { textOf } from '../api-answer.ts'
import type { ApiAnswer } from '../api-answer.ts'
import { answerFailure, forbidden, missingScope, moved } from '../api-failure.ts'
import type { ErrorContext } from '../api-failure.ts'
import { Failure } from '../../domain/failure.ts'
import { redact } from '../../domain/redact.ts'

/** `token does not have at least one of required scope(s), required=[write:repository], token scope=…` */
const REQUIRED = /required=\[([^[\]]*)\]/

/** What an unexpected answer of Gitea means. Its errors are `{"message", "url"}`. */
export function giteaFailure(answer: ApiAnswer, context: ErrorContext): Failure {
  const { status } = answer
  if (status >= 300 && status < 400) return moved(context, newPathIn(answer))
  if (status === 403) return refused(textOf(answer.data) ?? '', context)
  return answerFailure(answer, context)
}

/** Whether the base has everything that the head has. Gitea reports this only for a branch and itself. */
export function saysNoChanges({ status, data }: ApiAnswer): boolean {
  return status === 422 && /there are no changes between the head and the base/i.test(textOf(data) ?? '')
}

/**
 * Whether a branch may be missing. Gitea gives the same answer for an invisible repository (404) and for an empty one
 * (409), and an error of Git on the host may become an error of the host (500).
 */
export function mayLackBranch({ status, data }: ApiAnswer): boolean {
  return [404, 409, 500].includes(status) || (status === 422 && /must be branches/i.test(textOf(data) ?? ''))
}

/**
 * The number of the pull request that has the same branches and is open, in the answer with 409 (routers/api/v1/repo/pull.go
 * writes it as `issue_id`); undefined: there is none in it.
 */
export function existingIn({ data }: ApiAnswer): number | undefined {
  const [, digits] = /\bissue_id: ([1-9]\d{0,14})\b/.exec(textOf(data) ?? '') ?? []
  return digits === undefined ? undefined : Number(digits)
}

/** Whether Gitea refuses one of the users. Of several, it has accepted those before that user, or none. */
export function refusesPeople({ status, data }: ApiAnswer): boolean {
  return status === 422 || (status === 404 && /^User '.*' not exist/s.test(textOf(data) ?? ''))
}

/** Gitea's status and message for one of them, in parentheses, for the end of a message. */
export function wordsIn({ status, data }: ApiAnswer, { secrets }: ErrorContext): string {
  const quoted = redact(textOf(data) ?? '', secrets) ?? ''
  return quoted === '' ? ` (${status})` : ` (${status}: "${quoted}")`
}

/** The new path of a renamed repository: Gitea redirects to the same resource under the new name. */
function newPathIn({ headers }: ApiAnswer): string | undefined {
  const location = headers.get('location') ?? ''
  const [, owner, name] = /\/api\/v1\/repos\/([\w.-]{1,100})\/([\w.-]{1,100})(?:[/?]|$)/.exec(location) ?? []
  return owner === undefined || name === undefined ? undefined : `${owner}/${name}`
}

function refused(words: string, context: ErrorContext): Failure {
  const [, required] = REQUIRED.exec(words) ?? []
  if (required !== undefined) return missingScope(required, context)
  const quoted = redact(words, context.secrets) ?? ''
  if (quoted === '') return forbidden(context)
  const message = `The API of ${context.shown} does not permit this (403): "${quoted}"; fix what it names, and give the token the right to open pull requests there.`
  return new Failure('PermissionDenied', message)
}
