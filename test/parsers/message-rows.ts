import { answerFailure } from '../../functions/providers/api-failure.ts'
import { bitbucketFailure } from '../../functions/providers/bitbucket/errors.ts'
import { giteaFailure, refusesPeople } from '../../functions/providers/gitea/errors.ts'
import { githubFailure } from '../../functions/providers/github/errors.ts'
import { gitlabFailure, projectFailure } from '../../functions/providers/gitlab/errors.ts'
import { textRow } from './row.ts'
import type { ParserRow } from './row.ts'

const KIBI = 1024
const MEBI = 1024 * KIBI
const CONTEXT = {
  shown: 'https://git.example.com/a/b',
  secrets: ['a-secret'],
  baseURL: 'https://git.example.com/api/v4',
}
const NONE = new Headers()
const answer = (status: number, data: unknown, headers: Pick<Headers, 'get'> = NONE) => ({
  status,
  data,
  headers,
})
const one = (field: string) => (text: string) => ({ [field]: text })

const texts = {
  'brackets that do not end': ['', '[', ''],
  permissions: ['', '[a', ''],
  'required scopes': ['', 'required=[', ''],
  'one required scope': ['required=[', 'a', ''],
  refusals: ['403 Forbidden - ', 'a ', ''],
  users: ["User '", "' not", ''],
  GitHub: ['', 'was been is ', ''],
  Bitbucket: ['', 'branch not foun', ''],
  blanks: ['', ' ', 'x'],
  words: ['', 'rate limi', ''],
} as const
const statuses = [400, 403, 404, 409, 422, 500]
/** What hosts say in their answers. */
export const MESSAGE_ROWS: readonly ParserRow[] = [
  textRow({
    parser: 'messages of GitLab',
    largest: 4 * MEBI,
    read: (text) =>
      statuses.map((status) => [
        gitlabFailure(answer(status, { message: text }), CONTEXT),
        gitlabFailure(
          answer(status, { error: 'insufficient_granular_scope', error_description: text, scope: text }),
          CONTEXT,
        ),
        projectFailure({}, CONTEXT),
      ]),
    texts,
  }),
  textRow({
    parser: 'messages of GitHub',
    largest: 4 * MEBI,
    read: (text) => statuses.map((status) => githubFailure(answer(status, one('message')(text)), CONTEXT)),
    texts,
  }),
  textRow({
    parser: 'messages of Bitbucket',
    largest: 4 * MEBI,
    read: (text) =>
      statuses.map((status) =>
        bitbucketFailure(answer(status, { error: { message: text, detail: text } }), CONTEXT),
      ),
    texts,
  }),
  textRow({
    parser: 'messages of Gitea',
    largest: 4 * MEBI,
    read: (text) =>
      statuses.map((status) => [
        giteaFailure(answer(status, one('message')(text)), CONTEXT),
        refusesPeople(answer(status, one('message')(text))),
      ]),
    texts,
  }),
  textRow({
    parser: 'messages of any host',
    largest: 4 * MEBI,
    read: (text) => statuses.map((status) => answerFailure(answer(status, text), CONTEXT)),
    texts,
  }),
]
