import type { Test } from 'tap'
import type { Connect, FetchInit } from '../../functions/domain/pull-request/pull-requests.ts'
import connectBitbucket from '../../functions/providers/bitbucket/index.ts'
import connectGitea from '../../functions/providers/gitea/index.ts'
import connectGitHub from '../../functions/providers/github/index.ts'
import connectGitLab from '../../functions/providers/gitlab/index.ts'
import { BITBUCKET } from '../harness/hosts/bitbucket.ts'
import type { Dialect } from '../harness/hosts/dialect.ts'
import { GITEA } from '../harness/hosts/gitea.ts'
import { github } from '../harness/hosts/github.ts'
import { GITLAB } from '../harness/hosts/gitlab.ts'
import { BRANCHES, DRAFT, LOGIN, startPort } from '../providers/port-stage.ts'
import type { Entry } from './entries.ts'
import { atOnce } from '../../functions/http/share.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
/** More than are needed to open a pull request and to find it. */
const MOST_REQUESTS = 20
const HOSTS: readonly (readonly [Dialect, Connect])[] = [
  [github, connectGitHub],
  [GITLAB, connectGitLab],
  [GITEA, connectGitea],
  [BITBUCKET, connectBitbucket],
]

interface Recorded {
  readonly status: number
  readonly text: string
}

/** For each provider: the answers to finding and opening a pull request, of which one at a time is changed. */
export async function hostEntries(t: Test): Promise<readonly Entry[]> {
  const entries: Entry[] = []
  // One after the other: each writes its authority into the folder of the test.
  for (const [dialect, connect] of HOSTS) entries.push(await entryOf(t, dialect, connect))
  return entries
}

async function entryOf(t: Test, dialect: Dialect, connect: Connect): Promise<Entry> {
  const { host, work } = await startPort(t, { dialect, name: dialect.name })
  const answers = new Map<string, Recorded>()
  let called = ''
  for (let requests = 0; requests < MOST_REQUESTS; requests += 1)
    host.fail(
      {
        kind: 'changed',
        change(answer) {
          const { status, body } = answer
          answers.set(called, { status, text: typeof body === 'string' ? body : JSON.stringify(body) })
          return answer
        },
      },
      (method, path) => {
        called = `${method} ${path}`
        return true
      },
    )
  await work(async (pulls) => {
    await pulls.create(DRAFT)
    await pulls.find(BRANCHES, 'open')
  })
  host.forget()
  const keys = [...answers.keys()]
  return {
    entry: `answers of ${dialect.name}`,
    // Each as it was, and as what the host says with a refusal.
    valid: [...answers.values(), ...answers.values()].map(({ text }) => Buffer.from(text)),
    async read(bytes, index) {
      const at = keys[index % keys.length]
      const fetch = (url: string, { method }: FetchInit): Promise<Response> => {
        const key = `${method} ${new URL(url).pathname.slice(dialect.apiPath.length)}`
        const { status, text } = answers.get(key) ?? { status: 404, text: '{}' }
        const isChanged = key === at
        const shown = isChanged && index >= keys.length ? 422 : status
        return Promise.resolve(new Response(isChanged ? bytes : text, { status: shown, headers: JSON_TYPE }))
      }
      const endpoint = {
        ...{ baseURL: host.baseURL, repository: ['acme', 'shop'], shown: `${host.origin}/acme/shop.git` },
        ...{ permit: () => undefined, fetch, share: atOnce },
      }
      const pulls = connect(endpoint, LOGIN)
      await pulls.find(BRANCHES, 'open')
      await pulls.create(DRAFT)
    },
  }
}
