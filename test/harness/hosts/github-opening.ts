import { member, textMember } from '../../../functions/domain/json-value.ts'
import type { HostAnswer, HostCall } from './dialect.ts'
import { pullBody } from './github-bodies.ts'
import { addPull } from './model.ts'
import type { HostModel } from './model.ts'

/** POST .../pulls: opens a pull request, or refuses in GitHub's words. */
export async function openPull(call: HostCall, model: HostModel): Promise<HostAnswer> {
  const [owner = ''] = model.movedTo ?? model.repository
  const base = textMember(call.body, 'base') ?? ''
  const written = textMember(call.body, 'head') ?? ''
  const [, whose = owner, head = ''] = /^(?:([^:]*):)?(.*)$/.exec(written) ?? []
  const headOwner = whose.toLowerCase() === owner.toLowerCase() ? undefined : whose
  const missing = [
    ...((await model.branches.has(base)) ? [] : [invalid('base')]),
    ...((await model.branches.has(head, headOwner)) ? [] : [invalid('head')]),
  ]
  if (missing.length > 0) return unprocessable(missing)
  const isThere = model.pulls.some(
    (pull) =>
      pull.state === 'open' && pull.base === base && pull.head === head && pull.headOwner === headOwner,
  )
  if (isThere) return unprocessable([custom(`A pull request already exists for ${whose}:${head}.`)])
  if ((await model.branches.ahead(base, head, headOwner)) === 0)
    return unprocessable([custom(`No commits between ${base} and ${written}`)])
  const title = textMember(call.body, 'title') ?? ''
  const body = textMember(call.body, 'body') ?? ''
  const draft = member(call.body, 'draft') === true
  const opened = addPull(model, { base, head, headOwner, title, body, draft })
  const full = (model.movedTo ?? model.repository).join('/')
  const location = `${call.origin}${call.apiPath}/repos/${full}/pulls/${opened.number}`
  return { status: 201, headers: { location }, body: pullBody(opened, { model, place: call }) }
}

/** 422 with these errors. */
export function unprocessable(errors: readonly object[]): HostAnswer {
  return {
    status: 422,
    body: {
      message: 'Validation Failed',
      errors,
      documentation_url: 'https://docs.github.com/rest/pulls/pulls#create-a-pull-request',
      status: '422',
    },
  }
}

function custom(message: string): object {
  return { resource: 'PullRequest', code: 'custom', message }
}

function invalid(field: string): object {
  return { resource: 'PullRequest', field, code: 'invalid' }
}
