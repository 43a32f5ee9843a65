import type { ApiAnswer } from '../api-answer.ts'
import { notUnderstood } from '../api-failure.ts'
import type { ErrorContext } from '../api-failure.ts'
import { isRecord, member, textMember } from '../../domain/json-value.ts'
import type { DraftMark } from '../../domain/pull-request/draft-title.ts'
import type { Branches, ShownPullRequest } from '../../domain/pull-request/pull-requests.ts'
import { unified } from '../../domain/pull-request/marker.ts'
import { isSerialNumber } from '../api-answer.ts'
import { webAddress } from '../web-address.ts'
import { withQuickActions } from './quick-actions.ts'

/** GitLab's merge request as the project's own pull request, with the branches that it joins. */
export interface Shown extends ShownPullRequest {
  readonly base: string
  readonly head: string
  /** The head is in the project itself, not in a fork. */
  readonly own: boolean
  /** Number of the project that it belongs to. */
  readonly project: number
}

/** Which API the answers come from. */
export interface GitLabErrorContext extends ErrorContext {
  readonly baseURL: string
}

/** As GitLab reads titles (app/models/merge_request.rb, DRAFT_REGEX). */
export const DRAFT: DraftMark = { written: 'Draft: ', read: /^\s*(?:(?:\[draft\]|\(draft\)|draft:)\s*)+/i }

/** `locked`: it is being merged at this moment (GitLab documentation, "Merge requests API"). */
const STATES: ReadonlyMap<unknown, ShownPullRequest['state']> = new Map([
  ['opened', 'open'],
  ['locked', 'open'],
  ['closed', 'closed'],
  ['merged', 'merged'],
])

/** Reads one merge request of an answer, its body as it is stored (`withBody`). Throws ProviderUnavailable if it is not one. */
export function shownIn(value: unknown, answer: ApiAnswer, context: GitLabErrorContext): Shown {
  const number = member(value, 'iid')
  const url = webAddress(member(value, 'web_url'), context.baseURL)
  const state = STATES.get(member(value, 'state'))
  const title = textMember(value, 'title')
  const base = textMember(value, 'target_branch')
  const head = textMember(value, 'source_branch')
  const named = title !== undefined && base !== undefined && head !== undefined
  const project = member(value, 'target_project_id')
  const numbered = isSerialNumber(number) && isSerialNumber(project)
  if (!numbered || url === undefined || state === undefined || !named) throw notUnderstood(answer, context)
  const own = member(value, 'source_project_id') === project
  const body = textMember(value, 'description') ?? ''
  return { number, url, state, title, body, base, head, own, project }
}

/** The same with the body as it was set; of 128 KiB that takes 10 ms, so not of every one in a list. */
export function withBody(shown: ShownPullRequest): ShownPullRequest {
  return { ...shown, body: withQuickActions(unified(shown.body)) }
}

/** The merge request of this number in an answer. Throws ProviderUnavailable if the answer does not show it. */
export function numbered(number: number, answer: ApiAnswer, context: GitLabErrorContext): Shown {
  const shown = shownIn(objectIn(answer, context), answer, context)
  if (shown.number !== number) throw notUnderstood(answer, context)
  return shown
}

/** Whether it joins exactly these branches of the project itself. */
export function joins({ base, head, own }: Shown, branches: Branches): boolean {
  return own && base === branches.base && head === branches.head && branches.headOwner === undefined
}

/** The list in an answer. Throws ProviderUnavailable if there is none. */
export function listIn(answer: ApiAnswer, context: GitLabErrorContext): readonly unknown[] {
  if (answer.status === 200 && Array.isArray(answer.data)) return answer.data
  throw notUnderstood(answer, context)
}

/** The object in an answer. Throws ProviderUnavailable if there is none. */
export function objectIn(answer: ApiAnswer, context: GitLabErrorContext): Readonly<Record<string, unknown>> {
  if (answer.status === 200 && isRecord(answer.data)) return answer.data
  throw notUnderstood(answer, context)
}
