import { join } from 'node:path'
import t from 'tap'
import { requestIn, uidOf } from '../../../cli/apply/run-identity.ts'
import { readObjects } from '../../../cli/input/objects.ts'
import { requestDigest } from '../../../functions/domain/commit/commit-id.ts'
import { parse } from '../../../functions/domain/schema/parse.ts'
import { startGitServer } from '../../harness/git-server.ts'
import { gitBranches } from '../../harness/hosts/git-branches.ts'
import { memoryModel } from '../../harness/hosts/model.ts'
import { dialectOf } from '../../providers/contract/rows.ts'
import { commitlet, fileOf } from '../stage.ts'

// Files in place of a cluster are carried out, on a real Git server.
const TOKEN = 'tkn-apply-5uPerSecret'
const server = await startGitServer({ users: [{ password: TOKEN }] })
t.teardown(() => server.close())
const env = { CA_FILE: server.caFile }
let count = 0
const names = (): string => `acme/apply-${++count}`

const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'git' }, stringData: { token: TOKEN } }
const configMap = (colour: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'shop' },
  data: { colour },
})
const gitCommit = (repository: string, spec: object = {}): object => ({
  apiVersion: 'commitlet.dev/v1',
  kind: 'GitCommit',
  metadata: { name: 'shop' },
  spec: {
    repository,
    branch: 'main',
    message: 'Record the shop settings',
    credentials: { secretName: 'git' },
    resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'shop.yaml' },
    ...spec,
  },
})
const pullRequest = (repository: string, spec: object): object => ({
  apiVersion: 'commitlet.dev/v1',
  kind: 'PullRequest',
  metadata: { name: 'shop' },
  spec: { repository, baseBranch: 'main', headBranch: 'next', credentials: { secretName: 'git' }, ...spec },
})

/** A host that no test calls. */
const UNREACHED = {
  provider: 'gitea',
  providerConfig: { baseURL: `${server.url}/api/v1` },
}

t.test('a commit, named after who asks; the same again is none', async (t) => {
  const repository = await server.createRepository(names())
  const file = await fileOf(t, configMap('blue'), secret, gitCommit(repository.url))
  const first = await commitlet(['apply', '-f', file, '--requester', 'ada'], { env })
  t.equal(first.code, 0, first.stderr)
  t.match(
    first.stdout,
    /✓ GitCommit default\/shop {2}Committed as [0-9a-f]{12} to the branch main at shop\.yaml/,
  )
  t.match(await repository.git('log', '-1', '--format=%B', 'main'), /^Requested-by: ada$/m)
  t.match(await repository.show('main:shop.yaml'), /^ {2}namespace: default$/m)
  const second = await commitlet(['apply', '-f', file], { env })
  t.match(second.stdout, /already holds this content/)
  t.equal((await repository.log('main')).length, 2)
})

t.test('a second try of one run counts the commit of the first; another run writes again', async (t) => {
  const repository = await server.createRepository(names())
  const file = await fileOf(t, configMap('blue'), secret, gitCommit(repository.url))
  const apply = async (run: string) => (await commitlet(['apply', '-f', file, '--run', run], { env })).stdout
  t.match(await apply('77'), /Committed/)
  const [ours] = await repository.log('main')
  await repository.commit('main', { 'shop.yaml': 'by another' })
  t.match(await apply('77'), /Committed/)
  t.equal(await repository.show('main:shop.yaml'), 'by another', 'it was there already')
  t.match(await apply('78'), /Committed/)
  t.match(await repository.show('main:shop.yaml'), /colour: blue/)
  t.equal((await repository.log('main'))[0], ours)
})

t.test('one run may commit more than once, as what it wants has changed', async (t) => {
  const repository = await server.createRepository(names())
  const apply = async (colour: string, message: string) => {
    const file = await fileOf(t, configMap(colour), secret, gitCommit(repository.url, { message }))
    return commitlet(['apply', '-f', file, '--run', '7'], { env })
  }
  t.equal((await apply('blue', 'Build')).code, 0)
  t.equal((await apply('green', 'Build')).code, 0)
  t.match(await repository.show('main:shop.yaml'), /colour: green/, 'another object')
  t.equal((await apply('blue', 'Deploy')).code, 0)
  t.match(await repository.show('main:shop.yaml'), /colour: blue/, 'another spec')
  t.same(await repository.log('main'), ['Deploy', 'Build', 'Build', 'Begin'])
})

t.test('nothing is started for a suspended resource, and it is judged all the same', async (t) => {
  const repository = await server.createRepository(names())
  const suspended = gitCommit(repository.url, { suspend: true })
  const pull = pullRequest(repository.url, { title: 'Settings', suspend: true, ...UNREACHED })
  const file = await fileOf(t, configMap('blue'), secret, suspended, pull)
  const ended = await commitlet(['apply', '-f', file], { env })
  t.equal(ended.code, 0, ended.stderr)
  t.match(ended.stdout, /^– GitCommit default\/shop {2}.*spec\.suspend is true/m)
  t.match(ended.stdout, /^– PullRequest default\/shop {2}.*spec\.suspend is true/m)
  t.same(await repository.log('main'), ['Begin'])
  const { stdout } = await commitlet(['apply', '-f', file, '-o', 'json'], { env })
  t.match(JSON.parse(stdout), [
    { result: 'good', reason: 'Suspended' },
    { result: 'good', reason: 'Suspended' },
  ])
  const wrong = await fileOf(t, secret, gitCommit(repository.url, { suspend: true, message: '' }))
  t.equal((await commitlet(['apply', '-f', wrong], { env })).code, 1)
})

t.test('a name brings no trailer of its own into the commit, nor does a namespace', async (t) => {
  const repository = await server.createRepository(names())
  const forged = 'shop\nRequested-by: admin'
  for (const metadata of [{ name: forged }, { name: 'shop', namespace: forged }, { name: 'shop/../x' }]) {
    const file = await fileOf(t, configMap('blue'), secret, { ...gitCommit(repository.url), metadata })
    for (const command of ['apply', 'check', 'render']) {
      const { code, stderr } = await commitlet([command, '-f', file], { env })
      t.match(
        { code, stderr },
        { code: 2, stderr: /name or namespace the API server does not take/ },
        command,
      )
    }
  }
  const file = await fileOf(t, configMap('blue'), secret, gitCommit(repository.url))
  t.equal((await commitlet(['apply', '-f', file, '-n', forged], { env })).code, 2)
  t.same(await repository.log('main'), ['Begin'])
})

t.test('with a key, a commit of somebody else that names the run is not taken for its own', async (t) => {
  const repository = await server.createRepository(names())
  const file = await fileOf(t, configMap('blue'), secret, gitCommit(repository.url))
  const key = join(t.testdir({ key: 'k'.repeat(32) }), 'key')
  const apply = (run: string) =>
    commitlet(['apply', '-f', file, '--run', run], { env: { ...env, STAMP_KEY_FILE: key } })
  const objects = await readObjects([file], () => Promise.resolve(''))
  const request = objects.map(({ value }) => requestIn('79', parse(value), objects)).at(-1) ?? ''
  const id = `${uidOf({ kind: 'GitCommit', name: 'shop' }, 'default')}.1.${requestDigest(request)}`
  await repository.commit('main', { 'shop.yaml': 'a typo less' }, `Fix a typo\n\nCommitlet-Id: ${id}\n`)
  t.equal((await apply('79')).code, 0)
  t.match(await repository.show('main:shop.yaml'), /colour: blue/)
  t.match(await repository.git('log', '-1', '--format=%B', 'main'), `Commitlet-Id: ${id}\n`)
  await repository.commit('main', { 'shop.yaml': 'by another' })
  t.match((await apply('79')).stdout, /Committed/)
  t.equal(await repository.show('main:shop.yaml'), 'by another', 'its own counts')
})

t.test('a follower is carried out once, as its sources are now', async (t) => {
  const repository = await server.createRepository(names())
  const apply = async (colour: string) => {
    const follower = gitCommit(repository.url, { sync: 'OnChange' })
    const file = await fileOf(t, configMap(colour), secret, follower)
    return commitlet(['apply', '-f', file, '--run', '5'], { env })
  }
  for (const colour of ['blue', 'green']) {
    const { code, stdout } = await apply(colour)
    t.equal(code, 0, stdout)
    t.match(await repository.show('main:shop.yaml'), `colour: ${colour}`)
  }
  t.equal((await repository.log('main')).length, 3)
})

t.test('every digit and the order of keys come through, and standard input is a file', async (t) => {
  const repository = await server.createRepository(names())
  const resourceRef = { apiVersion: 'example.com/v1', kind: 'Widget', name: 'shop', path: 'shop.json' }
  const input = [
    'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: shop}\nspec: {b: 12345678901234567890, "10": yes, a: 1}',
    JSON.stringify({
      kind: 'List',
      apiVersion: 'v1',
      items: [secret, gitCommit(repository.url, { resourceRef })],
    }),
  ].join('\n---\n')
  const ended = await commitlet(['apply', '-f', '-', '-n', 'team'], { env, input })
  t.equal(ended.code, 0, ended.stderr + ended.stdout)
  const text = await repository.show('main:shop.json')
  t.match(text, /"10": true,\s+"a": 1,\s+"b": 12345678901234567890/)
  t.match(text, /"namespace": "team"/)
})

t.test('a failure that passes is tried again; one that does not ends with 3', async (t) => {
  const name = names()
  const repository = await server.createRepository(name)
  const file = await fileOf(t, configMap('blue'), secret, gitCommit(repository.url))
  server.faults.add({ kind: 'status', status: 503 }, { repository: name, times: 1 })
  t.equal((await commitlet(['apply', '-f', file, '--timeout', '1m'], { env })).code, 0)
  server.faults.add({ kind: 'status', status: 503 }, { repository: name })
  const down = await commitlet(['apply', '-f', file, '--timeout', '0'], { env })
  t.equal(down.code, 3)
  t.match(down.stdout, /✗ GitCommit default\/shop {2}ProviderUnavailable: /)
  t.notMatch(down.stdout, /retries automatically/)
})

t.test('Ctrl-C ends the wait for the next try', async (t) => {
  const name = names()
  const repository = await server.createRepository(name)
  const file = await fileOf(t, configMap('blue'), secret, gitCommit(repository.url))
  server.faults.add({ kind: 'status', status: 503 }, { repository: name })
  const stop = new AbortController()
  const progress = (line: string): void => {
    if (/ProviderUnavailable, again in \d+ s/.test(line)) stop.abort()
  }
  const ended = await commitlet(['apply', '-f', file], { env, signal: stop.signal, progress })
  t.match(ended, { code: 3, stdout: /ProviderUnavailable/ })
})

t.test('what is wrong ends with 1, and the others are carried out', async (t) => {
  const repository = await server.createRepository(names())
  const wrong = gitCommit(repository.url, { credentials: { secretName: 'none' } })
  const invalid = { ...gitCommit(repository.url, { message: '' }), metadata: { name: 'invalid' } }
  const good = { ...gitCommit(repository.url), metadata: { name: 'good' } }
  const file = await fileOf(t, configMap('blue'), secret, wrong, invalid, good)
  const ended = await commitlet(['apply', '-f', file, '-o', 'json'], { env })
  t.equal(ended.code, 1)
  t.match(JSON.parse(ended.stdout), [
    { resource: 'GitCommit default/shop', result: 'wrong', reason: 'ReferenceNotFound' },
    { resource: 'GitCommit default/invalid', result: 'wrong', reason: 'InvalidSpec' },
    { resource: 'GitCommit default/good', result: 'good', reason: 'Succeeded', commit: { branch: 'main' } },
  ])
  t.notMatch(ended.stdout, TOKEN)
})

t.test('a pull request comes after the commit to its branch, and later runs change it', async (t) => {
  const dialect = await dialectOf('gitea')
  if (dialect === undefined) throw new Error('gitea')
  const name = names()
  const repository = await server.createRepository(name)
  const model = { ...memoryModel({ repository: name.split('/') }), branches: gitBranches(repository) }
  model.tokens.set(TOKEN, 'write')
  server.serveAPI(dialect, model)
  const provider = { provider: 'gitea', providerConfig: { baseURL: `${server.url}/api/v1` } }
  const apply = async (title: string) => {
    const pull = pullRequest(repository.url, { title, ...provider })
    const commit = gitCommit(repository.url, { branch: 'next', ...provider })
    return commitlet(['apply', '-f', await fileOf(t, configMap('blue'), secret, pull, commit)], { env })
  }
  const first = await apply('Settings')
  t.equal(first.code, 0, first.stdout + first.stderr)
  t.match(first.stdout, /GitCommit[^]*✓ PullRequest default\/shop {2}Opened #1/)
  t.match((await apply('Better settings')).stdout, /Updated title and body of #1/)
  t.match(model.pulls, [{ title: 'Better settings' }])
})

t.test('command lines that cannot be understood end with 2', async (t) => {
  const file = await fileOf(t, configMap('blue'))
  const lines: readonly (readonly [string, RegExp])[] = [
    ['apply', /Name the files with -f/],
    [`apply -f ${file}`, /has no GitCommit and no PullRequest/],
    [`apply -f ${file} --timeout soon`, /--timeout is "soon"/],
    [`apply -f ${file} --run ${'x'.repeat(201)}`, /--run has to be/],
  ]
  for (const [line, said] of lines) {
    const { code, stderr } = await commitlet(line.split(' '), { env })
    t.match({ code, stderr }, { code: 2, stderr: said }, line.slice(0, 60))
  }
})
