import { textOf, wordsMember } from '../api-answer.ts'
import type { ApiAnswer } from '../api-answer.ts'
import {
  answerFailure,
  archived,
  branchMissing,
  forbidden,
  missingScope,
  moved,
  rateLimited,
  rejected,
  unavailable,
} from '../api-failure.ts'
import type { ErrorContext } from '../api-failure.ts'
import { Failure } from '../../domain/failure.ts'
import { elements, member, textMember } from '../../domain/json-value.ts'
import type { Branches } from '../../domain/pull-request/pull-requests.ts'
import { redact } from '../../domain/redact.ts'

/** Seconds since 1970 (GitLab documentation, "User and IP rate limits"). */
const RESET_HEADER = 'ratelimit-reset'
/** A conflict with something other than another open merge request: `409 Conflict: Resource lock`. */
const RESOURCE_LOCK = /resource lock/i
/** Single permissions that a token lacks, within a sentence: `… [Merge Request: Create].` */
const PERMISSIONS = /\[([^[\]]{1,200})\]/

/** What an answer other than success means on GitLab, as far as the answer alone shows. */
export function gitlabFailure(answer: ApiAnswer, context: ErrorContext): Failure {
  const { status, data } = answer
  if (status === 429) return rateLimited(answer, context, RESET_HEADER)
  if (status === 403) return scopeFailure(data, context) ?? refused(wordsOf(answer), context)
  if (saysMoved(answer)) return moved(context)
  if (status === 409 && RESOURCE_LOCK.test(wordsOf(answer))) return unavailable(answer, context)
  return answerFailure(answer, context)
}

/** GitLab's answer to a user without the right, but also to every user of a project without merge requests. */
export function saysForbiddenOnly(answer: ApiAnswer): boolean {
  return answer.status === 403 && /^403 forbidden$/i.test(wordsOf(answer).trim())
}

/** The project was renamed: `Non GET methods are not allowed for moved projects`. */
export function saysMoved(answer: ApiAnswer): boolean {
  return answer.status === 405 && /moved/i.test(wordsOf(answer))
}

/** Why the project accepts no merge requests from anyone; undefined: it does. `project`: as GitLab shows it. */
export function projectFailure(project: unknown, context: ErrorContext): Failure | undefined {
  if (member(project, 'archived') === true) return archived(context)
  const disabled =
    member(project, 'merge_requests_access_level') === 'disabled' ||
    member(project, 'merge_requests_enabled') === false
  return disabled ? rejected('merge requests are disabled in the project', 403, context) : undefined
}

/** Whether another merge request is open already. */
export function saysExists(answer: ApiAnswer): boolean {
  return answer.status === 409 && !RESOURCE_LOCK.test(wordsOf(answer))
}

/**
 * A branch that GitLab does not see (yet): since 19.0 it checks this before it opens a merge request, and a branch may
 * appear some time after its push. The message is in the language of the token's user, so only the field counts.
 */
export function branchFailure(answer: ApiAnswer, branches: Branches, shown: string): Failure | undefined {
  const fields = member(answer.data, 'message')
  const names = (field: string): boolean => elements(member(fields, field)).length > 0
  if (answer.status !== 400) return undefined
  if (names('source_branch')) return branchMissing('head', branches, shown)
  return names('target_branch') ? branchMissing('base', branches, shown) : undefined
}

/** Whether the project itself is missing, rather than something in it. */
export function lacksProject(answer: ApiAnswer): boolean {
  return answer.status === 404 && /project/i.test(wordsOf(answer))
}

/** OAuth's own error (RFC 6750, section 3.1), of tokens with scopes and of those with single permissions. */
function scopeFailure(data: unknown, context: ErrorContext): Failure | undefined {
  const error = textMember(data, 'error')
  if (error === 'insufficient_scope') {
    const scopes = wordsMember(data, 'scope')?.split(' ') ?? []
    // Opening a merge request needs this one; the others are enough only for reading.
    return missingScope(scopes.includes('api') ? 'api' : scopes.join(' '), context)
  }
  if (error !== 'insufficient_granular_scope') return undefined
  const description = wordsMember(data, 'error_description') ?? ''
  return missingScope(PERMISSIONS.exec(description)?.[1], context)
}

/** `403 Forbidden - …` gives a reason. */
function refused(words: string, context: ErrorContext): Failure {
  const [, why] = /^403 Forbidden - (.+)$/s.exec(words) ?? []
  const quoted = why === undefined ? undefined : redact(why, context.secrets)
  if (quoted === undefined || quoted === '') return forbidden(context)
  const message = `The API of ${context.shown} knows the user but does not permit this (403): "${quoted}"; fix what it names, or put another token into the Secret.`
  return new Failure('PermissionDenied', message)
}

function wordsOf({ data }: ApiAnswer): string {
  return textOf(data) ?? ''
}
