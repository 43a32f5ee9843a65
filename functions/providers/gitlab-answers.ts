import type { ApiAnswer } from '../domain/api-answer.ts'
import { notUnderstood } from '../domain/api-failure.ts'
import type { ApiSpeech } from '../domain/api-failure.ts'
import { isRecord, member, textMember } from '../domain/member.ts'
import type { Branches, ShownPullRequest } from '../domain/pull-requests.ts'
import { isSerialNumber } from '../domain/serial-number.ts'
import { webAddress } from '../domain/web-address.ts'
import { withQuickActions } from './gitlab-text.ts'

/** GitLab's merge request as the project's own pull request, with the branches that it joins. */
export interface Shown extends ShownPullRequest {
  readonly base: string
  readonly head: string
  /** The head is in the project itself, not in a fork. */
  readonly own: boolean
  /** Number of the project that it belongs to. */
  readonly project: number
}

/** Whose answers are read. */
export interface Speaker extends ApiSpeech {
  readonly baseURL: string
}

/** `locked`: it is being merged at this moment (GitLab documentation, "Merge requests API"). */
const STATES: ReadonlyMap<unknown, ShownPullRequest['state']> = new Map([
  ['opened', 'open'],
  ['locked', 'open'],
  ['closed', 'closed'],
  ['merged', 'merged'],
])

/** Reads one merge request out of an answer. Throws ProviderUnavailable where it is none. */
export function shownIn(value: unknown, answer: ApiAnswer, speaker: Speaker): Shown {
  const number = member(value, 'iid')
  const url = webAddress(member(value, 'web_url'), speaker.baseURL)
  const state = STATES.get(member(value, 'state'))
  const title = textMember(value, 'title')
  const base = textMember(value, 'target_branch')
  const head = textMember(value, 'source_branch')
  const named = title !== undefined && base !== undefined && head !== undefined
  const project = member(value, 'target_project_id')
  const numbered = isSerialNumber(number) && isSerialNumber(project)
  if (!numbered || url === undefined || state === undefined || !named) throw notUnderstood(answer, speaker)
  const own = member(value, 'source_project_id') === project
  const body = withQuickActions((textMember(value, 'description') ?? '').replace(/\r\n?/g, '\n'))
  return { number, url, state, title, body, base, head, own, project }
}

/** The merge request of this number, which an answer shows. Throws ProviderUnavailable where it does not. */
export function numbered(number: number, answer: ApiAnswer, speaker: Speaker): Shown {
  const shown = shownIn(objectIn(answer, speaker), answer, speaker)
  if (shown.number !== number) throw notUnderstood(answer, speaker)
  return shown
}

/** Does it join exactly these branches of the project itself? */
export function joins({ base, head, own }: Shown, branches: Branches): boolean {
  return own && base === branches.base && head === branches.head && branches.headOwner === undefined
}

/** The members of a list in an answer. Throws ProviderUnavailable where it is none. */
export function listIn(answer: ApiAnswer, speaker: Speaker): readonly unknown[] {
  if (answer.status === 200 && Array.isArray(answer.data)) return answer.data
  throw notUnderstood(answer, speaker)
}

/** The object of an answer. Throws ProviderUnavailable where it is none. */
export function objectIn(answer: ApiAnswer, speaker: Speaker): Readonly<Record<string, unknown>> {
  if (answer.status === 200 && isRecord(answer.data)) return answer.data
  throw notUnderstood(answer, speaker)
}
