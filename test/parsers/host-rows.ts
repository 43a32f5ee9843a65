import { retryAfterOf, textOf } from '../../functions/providers/api-answer.ts'
import { parseBounded } from '../../functions/providers/bounded-json.ts'
import { bitbucketFailure, creationFailure } from '../../functions/providers/bitbucket/errors.ts'
import { reviewersIn } from '../../functions/providers/bitbucket/pull-request.ts'
import { githubFailure, openingFailure } from '../../functions/providers/github/errors.ts'
import { withoutQuickActions, withQuickActions } from '../../functions/providers/gitlab/quick-actions.ts'
import { shownIn } from '../../functions/providers/gitlab/pull-request.ts'
import { webAddress } from '../../functions/providers/web-address.ts'
import { LONGEST_BODY, marked, readMarker } from '../../functions/domain/pull-request/marker.ts'
import { permitBy } from '../../functions/domain/pull-request/renamed-repository.ts'
import { parseRepositoryAddress } from '../../functions/domain/repository/address.ts'
import { targetOf } from '../../functions/domain/repository/target.ts'
import { textRow } from './row.ts'
import type { ParserRow } from './row.ts'

const KIBI = 1024
const MEBI = 1024 * KIBI
const CONTEXT = {
  shown: 'https://git.example.com/a/b',
  secrets: ['a-secret'],
  baseURL: 'https://git.example.com/api/v4',
}
const BRANCHES = { base: 'main', head: 'new', headOwner: undefined }
const NONE = new Headers()
const answer = (status: number, data: unknown, headers: Pick<Headers, 'get'> = NONE) => ({
  status,
  data,
  headers,
})

/** What hosts answer at their APIs. */
export const HOST_ROWS: readonly ParserRow[] = [
  textRow({
    parser: 'answer of an API, parsed',
    largest: 4 * MEBI,
    read: (text) => textOf(parseBounded(text)),
    texts: {
      lists: ['', '[', ''],
      'empty lists': ['[', '[],', '1]'],
      members: ['{', '"a":1,', '"b":1}'],
      escapes: ['"', '\\u003c', '"'],
      letters: ['"', 'a', '"'],
      backslashes: ['"', '\\\\', '"'],
      page: ['', ' ', '<html>'],
    },
  }),
  {
    parser: 'answer of an API with many fields',
    largest: 49_500,
    unit: 'fields',
    shapes: {
      fields: (size) => {
        const objects = Array.from({ length: Math.ceil(size / 990) }, (_, n) =>
          Object.fromEntries(Array.from({ length: 990 }, (_, i) => [`f${n}_${i}`, {}])),
        )
        const text = JSON.stringify({ message: objects })
        return () => textOf(parseBounded(text))
      },
    },
  },
  {
    parser: 'lists in answers',
    largest: 1_000,
    unit: 'entries',
    shapes: {
      'reviewers of Bitbucket': (size) => {
        const pull = {
          reviewers: Array.from({ length: size }, (_, i) => ({ uuid: `{${i}}`, account_id: 'a' })),
        }
        return () => reviewersIn(pull)
      },
      'scopes of Bitbucket': (size) => {
        const [required, granted] = ['a', 'b'].map((letter) =>
          Array.from({ length: size }, (_, i) => `${letter}${i}`),
        )
        return () => bitbucketFailure(answer(403, { error: { detail: { required, granted } } }), CONTEXT)
      },
      'errors of GitHub': (size) => {
        const data = { errors: Array.from({ length: size }, () => ({ field: 'a', code: 'b' })) }
        return () => openingFailure(answer(422, data), BRANCHES, CONTEXT)
      },
      'fields of Bitbucket': (size) => {
        const fields = Object.fromEntries(
          Array.from({ length: size }, (_, i) => [`f${i}`, ['branch not found']]),
        )
        return () => creationFailure(answer(400, { error: { message: 'a', fields } }), BRANCHES, CONTEXT)
      },
    },
  },
  {
    parser: 'scopes of a token',
    largest: 16 * KIBI,
    shapes: {
      scopes: (size) => {
        const list = Array.from({ length: size / 8 }, (_, i) => `a${i}`)
        const headers = new Headers({
          'x-oauth-scopes': list.map((name) => `b${name}`).join(','),
          'x-accepted-oauth-scopes': list.join(','),
        })
        return () => githubFailure(answer(403, {}, headers), CONTEXT)
      },
    },
  },
  textRow({
    parser: 'Retry-After',
    largest: 16 * KIBI,
    read: (text) =>
      retryAfterOf(
        answer(429, {}, { get: (name) => (name === 'date' ? 'Sun, 22 Nov 2026 10:00:00 GMT' : text) }),
        'reset',
      ),
    texts: {
      digits: ['', '9', 'x'],
      letters: ['', 'Mon ', ''],
      brackets: ['a', '(', ''],
      blanks: ['a', ' ', '1'],
      times: ['a', '1:', ''],
    },
  }),
  textRow({
    parser: 'web address of a pull request',
    largest: 8 * KIBI,
    read: (text) => webAddress(text, CONTEXT.baseURL),
    texts: {
      labels: ['https://', 'a.', ''],
      users: ['https://', 'a@', 'b'],
      dots: ['https://a/', '../', ''],
      letters: ['https://a/', 'é', ''],
      queries: ['https://a/?', '%', ''],
    },
  }),
  textRow({
    parser: 'marker in a body',
    largest: LONGEST_BODY,
    read: (body) => [readMarker({ title: body, body } as never), marked({ title: 'a', body }, 'b')],
    texts: {
      markers: ['', '[commitlet:a:0123456789abcdef]: #\n', ''],
      'one that does not end': ['[commitlet:a:0123456789abcdef]: #', ' ', 'x'],
      'long lines': ['[commitlet:', 'a', ''],
      'beginnings of markers': ['', '[commitlet:', ''],
      'line ends': ['[commitlet:', '\r', ''],
      blanks: ['a', ' ', 'a'],
    },
  }),
  textRow({
    parser: 'marker in a body of a whole answer',
    largest: 4 * MEBI,
    read: (body) => readMarker({ title: 'a', body } as never),
    texts: { 'line ends': ['', '\r', ''], markers: ['', '[commitlet:', ''] },
  }),
  textRow({
    parser: 'quick actions of GitLab',
    largest: LONGEST_BODY,
    read: (body) => [withoutQuickActions(body), withQuickActions(body)],
    texts: {
      slashes: ['', '/a\n', ''],
      'escaped slashes': ['', '\\/\n', ''],
      backslashes: ['', '\\', 'x'],
      blanks: ['', ' ', 'x'],
      lines: ['', '\n', ''],
      separators: ['', '\u2028', '/'],
    },
  }),
  textRow({
    parser: 'title of a draft at GitLab',
    largest: 4 * MEBI,
    read: (title) => {
      const value = {
        iid: 1,
        web_url: 'https://a/b',
        state: 'opened',
        title,
        target_branch: 'a',
        source_branch: 'b',
        target_project_id: 1,
        description: title,
      }
      return shownIn(value, answer(200, value), CONTEXT)
    },
    texts: { drafts: ['', 'draft:', ''], blanks: ['', ' ', 'x'] },
  }),
  textRow({
    parser: 'new name of a repository',
    largest: 4 * MEBI,
    read(path) {
      const target = targetOf('PullRequest', parseRepositoryAddress('https://git.example.com/a/b'), {})
      permitBy({ target, secrets: ['a-secret'] }, () => undefined)(path.split('/'))
    },
    texts: { segments: ['', 'a/', 'b'], letters: ['', 'a', ''], dots: ['', '../', ''] },
  }),
]
