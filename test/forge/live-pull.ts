import { elements, member, textMember } from '../../functions/domain/json-value.ts'
import type { ModelPull } from '../harness/hosts/model.ts'
import type { AskNow } from './asking-now.ts'

const MERGE_TRIES = 50

/** A pull request of Gitea's as the suite of the providers sees it: what is assigned is changed at the host. */
export function livePull(ask: AskNow, root: string, shown: unknown): ModelPull {
  const number = Number(member(shown, 'number'))
  const path = `${root}/pulls/${number}`
  const change = (content: object): unknown => ask('PATCH', path, content)
  const names = (list: unknown, key: string): string[] =>
    elements(list).flatMap((one) => textMember(one, key) ?? [])
  const text = (key: string): string => textMember(shown, key) ?? ''
  const now = { title: text('title'), body: text('body') }
  return {
    number,
    base: textMember(member(shown, 'base'), 'label') ?? '',
    head: textMember(member(shown, 'head'), 'label') ?? '',
    headOwner: undefined,
    draft: member(shown, 'draft') === true,
    opened: new Date(text('created_at')),
    written: new Date(text('updated_at')),
    labels: names(member(shown, 'labels'), 'name'),
    reviewers: names(member(shown, 'requested_reviewers'), 'login'),
    assignees: names(member(shown, 'assignees'), 'login'),
    get title() {
      return now.title
    },
    set title(title) {
      now.title = title
      change({ title })
    },
    get body() {
      return now.body
    },
    set body(body) {
      now.body = body
      change({ body })
    },
    get state() {
      return member(shown, 'merged') === true ? 'merged' : text('state') === 'closed' ? 'closed' : 'open'
    },
    set state(state) {
      if (state === 'merged') merge(ask, path)
      else change({ state })
    },
  }
}

/** Gitea first has to find out whether it can be merged, and says 405 until then. */
function merge(ask: AskNow, path: string, tries = MERGE_TRIES): void {
  try {
    ask('POST', `${path}/merge`, { Do: 'merge' })
  } catch (error) {
    if (tries === 0 || !String(error).includes('ended with 405')) throw error
    merge(ask, path, tries - 1)
  }
}
