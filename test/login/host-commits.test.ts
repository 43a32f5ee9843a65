import t from 'tap'
import type { Test } from 'tap'
import { parseRepositoryAddress } from '../../functions/domain/repository/address.ts'
import { HOSTS } from '../../functions/domain/repository/hosts.ts'
import { targetOf } from '../../functions/domain/repository/target.ts'
import { makeApiLimits } from '../../functions/login/limits/api-limits.ts'
import { NO_SPAN, type Span } from '../../functions/domain/telemetry/tracer.ts'
import { COMMITTERS, openHostCommits } from '../../functions/login/host-commits.ts'
import { github } from '../harness/hosts/github.ts'
import { failed } from '../harness/hosts/github-commit.ts'
import { startHost } from '../harness/hosts/host-server.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import { recordingMeter } from '../harness/recording-meter.ts'
import { loginOf } from '../git/stage.ts'
import { settingsWith } from '../providers/port-stage.ts'

const { signal } = new AbortController()
const COMMIT = { branch: 'main', tip: 'a'.repeat(40), message: 'One\n\nTwo\n', files: [] }

async function start(t: Test) {
  const made: object[] = []
  const commit = (asked: object): string => 'b'.repeat(39) + String(made.push(asked))
  const host = await startHost(t, github, { ...memoryModel(), commits: { commit } })
  const { meter, recorded } = recordingMeter()
  const commitsByAPI = openHostCommits(
    settingsWith(host.caFile),
    makeApiLimits(() => 0),
    meter,
  )
  const address = parseRepositoryAddress(`${host.origin}/acme/shop.git`)
  const target = targetOf('GitCommit', address, { provider: 'github', baseURL: host.baseURL })
  return { made, host, recorded, commitsByAPI, target }
}

t.test('every host that signs commits makes them, and no other', async (t) => {
  const signing = HOSTS.filter(({ signsCommits }) => signsCommits === true).map(({ name }) => name)
  t.same(Object.keys(COMMITTERS), signing)
  for (const name of signing) t.type((await COMMITTERS[name]?.())?.makeCommit, 'function', name)
})

t.test(
  'the token of the login makes a commit by the API of the repository, and the call is measured',
  async (t) => {
    const { made, host, recorded, commitsByAPI, target } = await start(t)
    const commit = commitsByAPI(target, 'team')
    const spans: object[] = []
    const past: Span['past'] = (...span) => void spans.push(span)
    const terms = { login: loginOf('good-token'), signal, span: { ...NO_SPAN, past } }
    t.strictSame(await commit(COMMIT, terms), { kind: 'landed', sha: `${'b'.repeat(39)}1` })
    t.match(made, [
      { branch: 'main', expected: COMMIT.tip, message: 'One\n\nTwo\n', additions: [], deletions: [] },
    ])
    t.strictSame(host.violations, [])
    t.match(
      recorded.filter(([, { method }]) => method !== undefined),
      [[/^provider_request/, { provider: 'github', method: 'POST' }]],
    )
    t.match(spans, [['call API', Number, { 'http.request.method': 'POST' }]])
  },
)

t.test('a limit that the host has told of holds for the next commit, too', async (t) => {
  const { host, commitsByAPI, target } = await start(t)
  const terms = { login: loginOf('good-token'), signal }
  host.fail({ kind: 'answer', answer: github.answers.rateLimited(60) })
  await t.rejects(commitsByAPI(target, 'team')(COMMIT, terms), {
    name: 'Failure',
    reason: 'RateLimited',
    retryAfterSeconds: 60,
  })
  await t.rejects(commitsByAPI(target, 'team')(COMMIT, terms), { name: 'Failure', reason: 'RateLimited' })
  t.equal(host.seen.length, 1)
})

t.test('what a user has called a rule of a branch is no limit for others with the same token', async (t) => {
  const { host, commitsByAPI, target } = await start(t)
  const terms = { login: loginOf('good-token'), signal }
  const words =
    'Repository rule violations found\n\nRequired status check "secondary rate limit" is expected.'
  host.fail({ kind: 'answer', answer: failed('UNPROCESSABLE', words) })
  await t.rejects(commitsByAPI(target, 'team')(COMMIT, terms), { name: 'Failure', reason: 'PushRejected' })
  t.match(await commitsByAPI(target, 'team')(COMMIT, terms), { kind: 'landed' })
})

t.test('a commit that has waited for longer than its claim holds is not sent', async (t) => {
  const { made, host, commitsByAPI, target } = await start(t)
  const commit = commitsByAPI(target, 'team')
  const terms = { login: loginOf('good-token'), signal }
  t.strictSame(await commit(COMMIT, { ...terms, remaining: () => 0 }), { kind: 'race' })
  t.equal(host.seen.length, 0)
  // Others with the same token come first.
  const remaining = (): number => (host.seen.length < 2 ? 1_000 : 0)
  const ended = await Promise.all(['one', 'two', 'three'].map(() => commit(COMMIT, { ...terms, remaining })))
  t.strictSame(
    ended.map(({ kind }) => kind),
    ['landed', 'landed', 'race'],
  )
  t.equal(made.length, 2)
})

t.test('without a token, a known API or time there is no call', async (t) => {
  const { host, commitsByAPI, target } = await start(t)
  const login = loginOf('good-token')
  const key = { ...login, method: 'key', namespace: 'shop', privateKey: '', hostKeys: '' } as const
  await t.rejects(commitsByAPI(target, 'team')(COMMIT, { login: key, signal }), {
    name: 'Failure',
    reason: 'InvalidSpec',
  })
  const elsewhere = targetOf('GitCommit', parseRepositoryAddress('https://gitlab.com/acme/shop'))
  await t.rejects(commitsByAPI(elsewhere, 'team')(COMMIT, { login, signal }), {
    reason: 'NotSupported',
    message: /^Hosts of the provider gitlab make no commits by their API/,
  })
  t.throws(() => commitsByAPI(targetOf('GitCommit', target.address), 'team'), {
    name: 'Failure',
    reason: 'InvalidSpec',
  })
  await t.rejects(commitsByAPI(target, 'team')(COMMIT, { login, signal: AbortSignal.abort() }), {
    name: 'Failure',
    reason: 'Timeout',
  })
  t.equal(host.seen.length, 0)
})
