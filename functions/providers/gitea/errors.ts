import { textOf } from '../api-answer.ts'
import type { ApiAnswer } from '../api-answer.ts'
import { answerFailure, forbidden, missingScope, moved } from '../api-failure.ts'
import type { ErrorContext } from '../api-failure.ts'
import { Failure } from '../../domain/failure.ts'
import { redact } from '../../domain/redact.ts'

/** `token does not have at least one of required scope(s), required=[write:repository], token scope=…` */
const REQUIRED = /required=\[([^\]]*)\]/

/** What an answer of Gitea's means that is not what was asked for. Its errors are `{"message", "url"}`. */
export function giteaFailure(answer: ApiAnswer, context: ErrorContext): Failure {
  const { status } = answer
  if (status >= 300 && status < 400) return moved(context, placeOf(answer))
  if (status === 403) return refused(textOf(answer.data) ?? '', context)
  return answerFailure(answer, context)
}

/** Has the base everything that the head has? Gitea says so only of a branch and itself. */
export function saysNoChanges({ status, data }: ApiAnswer): boolean {
  return status === 422 && /there are no changes between the head and the base/i.test(textOf(data) ?? '')
}

/**
 * May it be that a branch is missing? A repository that cannot be seen is answered in the same way (404), an empty one
 * like that (409), and what Git then says on the host may become an error of the host (500).
 */
export function mayLackBranch({ status, data }: ApiAnswer): boolean {
  return [404, 409, 500].includes(status) || (status === 422 && /must be branches/i.test(textOf(data) ?? ''))
}

/** Is it one of the people that Gitea does not take? Of several it takes those before, or none. */
export function refusesPeople({ status, data }: ApiAnswer): boolean {
  return status === 422 || (status === 404 && /^User '.*' not exist/s.test(textOf(data) ?? ''))
}

/** Gitea's own words about one of them, to stand behind what is said of it. */
export function wordsIn({ status, data }: ApiAnswer, { secrets }: ErrorContext): string {
  const said = redact(textOf(data) ?? '', secrets) ?? ''
  return said === '' ? ` (${status})` : ` (${status}: "${said}")`
}

/** The new path of a repository that was renamed: Gitea leads to the same below its new name. */
function placeOf({ headers }: ApiAnswer): string | undefined {
  const location = headers.get('location') ?? ''
  const [, owner, name] = /\/api\/v1\/repos\/([\w.-]{1,100})\/([\w.-]{1,100})(?:[/?]|$)/.exec(location) ?? []
  return owner === undefined || name === undefined ? undefined : `${owner}/${name}`
}

function refused(words: string, context: ErrorContext): Failure {
  const [, required] = REQUIRED.exec(words) ?? []
  if (required !== undefined) return missingScope(required, context)
  const said = redact(words, context.secrets) ?? ''
  if (said === '') return forbidden(context)
  const message = `The API of ${context.shown} does not permit this (403): "${said}"; see to what it names, and give the token the right to open pull requests there.`
  return new Failure('PermissionDenied', message)
}
