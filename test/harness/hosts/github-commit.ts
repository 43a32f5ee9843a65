import { elements, member, textMember } from '../../../functions/domain/json-value.ts'
import type { HostAnswer, HostCall } from './dialect.ts'
import type { HostModel } from './model.ts'

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/
const MUTATION =
  /^mutation \(\$input: CreateCommitOnBranchInput!\) \{ createCommitOnBranch\(input: \$input\) \{/

/** GitHub's GraphQL API, as far as Commitlet uses it: the mutation createCommitOnBranch. */
export function answerToQuery(call: HostCall, model: HostModel): HostAnswer {
  const { body, token } = call
  if (!MUTATION.test(textMember(body, 'query') ?? '')) return failed(undefined, 'Parse error')
  const input = member(member(body, 'variables'), 'input')
  const named = textMember(member(input, 'branch'), 'repositoryNameWithOwner') ?? ''
  const right = model.tokens.get(token)
  if (right === 'stranger' || named.toLowerCase() !== model.repository.join('/').toLowerCase())
    return failed('NOT_FOUND', `Could not resolve to a Repository with the name '${named}'.`)
  if (right !== 'write' && !mayWriteContents(token, model))
    return failed('FORBIDDEN', 'Resource not accessible by integration')
  if (model.archived) return failed('UNPROCESSABLE', 'Repository was archived so is read-only.')
  return commit(input, model)
}

function mayWriteContents(token: string, { apps }: HostModel): boolean {
  return apps?.issued.find((issued) => issued.token === token)?.permissions['contents'] === 'write'
}

function commit(input: unknown, { commits, protections }: HostModel): HostAnswer {
  const branch = textMember(member(input, 'branch'), 'branchName') ?? ''
  const expected = textMember(input, 'expectedHeadOid') ?? ''
  const said = member(input, 'message')
  const [headline = '', text = ''] = [textMember(said, 'headline'), textMember(said, 'body')]
  const changes = member(input, 'fileChanges')
  const additions = elements(member(changes, 'additions')).map((one) => ({
    path: textMember(one, 'path') ?? '',
    contents: textMember(one, 'contents') ?? '',
  }))
  const deletions = elements(member(changes, 'deletions')).map((one) => textMember(one, 'path') ?? '')
  if (!additions.every(({ contents }) => BASE64.test(contents)))
    return failed('UNPROCESSABLE', 'A "contents" value could not be base64 decoded.')
  if (protections?.get(branch) === false)
    return failed(
      'UNPROCESSABLE',
      'Repository rule violations found\n\nChanges must be made through a pull request.\n\n',
    )
  const oid = commits?.commit({
    ...{ branch, expected, deletions },
    message: text === '' ? headline : `${headline}\n\n${text}`,
    additions: additions.map(({ path, contents }) => ({ path, content: Buffer.from(contents, 'base64') })),
  })
  if (oid === undefined || oid === 'stale')
    return failed(
      'STALE_DATA',
      `Expected branch to point to "${expected}" but it did not. Pull and try again.`,
    )
  return { status: 200, body: { data: { createCommitOnBranch: { commit: { oid } } } } }
}

/** An error as GitHub's GraphQL API writes it. */
export function failed(type: string | undefined, message: string): HostAnswer {
  const error = {
    ...(type === undefined ? {} : { type }),
    ...{ path: ['createCommitOnBranch'], locations: [{ line: 1, column: 45 }], message },
  }
  return { status: 200, body: { data: { createCommitOnBranch: null }, errors: [error] } }
}
