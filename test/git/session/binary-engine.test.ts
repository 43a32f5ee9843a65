import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { endingSigner } from '../ending-signer.ts'
import type { Change } from '../../../functions/domain/commit/change.ts'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import {
  binaryRemote,
  openBinaryEngine,
  type AcquireLarge,
  type LargeHolder,
} from '../../../functions/git/session/binary-engine.ts'
import { openSSHSessions } from '../../../functions/git/ssh/sessions.ts'
import type { Session } from '../../../functions/git/session/session.ts'
import { land } from '../../../functions/git/writer/land.ts'
import { followTrust } from '../../../functions/net/trust.ts'
import type { GitRepository, RepositoryOptions } from '../../harness/git-repository.ts'
import {
  addressOf,
  AUTHOR,
  changeOf,
  endingsOf,
  loginOf,
  openStage,
  outcomeOf,
  PASSWORD,
  REACHED,
  patience,
  pending,
} from '../stage.ts'
import { drawnTests } from '../../harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

// What only a real server can prove: the writer on the git binary. Its decisions are tested in writer/.
const stage = await openStage()
t.teardown(() => stage.close())
const { server } = stage

let count = 0
function create(options: RepositoryOptions = {}): Promise<GitRepository> {
  return server.createRepository(`binary/${++count}`, options)
}

/** Lands the changes as one batch; returns how each ended, and the requests it took. */
async function landAll(repository: GitRepository, changes: readonly Change[], broken: Partial<Session> = {}) {
  const batch = changes.map((change) => pending(change))
  const before = server.requests.length
  const results = await stage.session(repository.url, (session) => {
    const remote = binaryRemote({ ...session, ...broken }, () => Promise.resolve())
    return endingsOf(batch, land(remote, { batch, signal: patience() }))
  })
  const requests = server.requests.slice(before)
  return {
    results,
    requests: requests.length,
    pushes: requests.filter(({ exchange }) => exchange === 'receive-pack').length,
  }
}

drawn('a branch that names a tree or a file is broken, and may be fixed', async (t) => {
  for (const name of ['main^{tree}', 'main:README.md']) {
    const repository = await create()
    const object = await repository.git('rev-parse', name)
    await writeFile(join(repository.path, 'refs/heads/main'), `${object}\n`)
    const { results } = await landAll(repository, [changeOf(repository.url, 'a.md')])
    t.match(results, [{ reason: 'NotSupported', retry: 'transient', message: /a broken object/ }], name)
  }
})

t.test('a branch whose name is the full ref name of this one is named as the conflict', async (t) => {
  const repository = await create()
  await repository.git('update-ref', 'refs/heads/refs/heads/main', 'main')
  const { results } = await landAll(repository, [changeOf(repository.url, 'a.md')])
  t.match(results, [
    {
      reason: 'PushRejected',
      retry: 'slow',
      message: /has a second branch or a tag whose name ends with the full name of this one/,
    },
  ])
})

drawn('where the default branch has moved meanwhile, the next round makes the branch', async (t) => {
  const repository = await create({ files: { 'a.md': 'a' } })
  let release = (): void => undefined
  const moved = new Promise<void>((resolve) => (release = resolve))
  server.faults.add(
    { kind: 'hold', when: 'before', until: moved },
    { repository: repository.name, exchange: 'receive-pack-refs', times: 1 },
  )
  const work = landAll(repository, [changeOf(repository.url, 'a.md', { branch: 'next', text: 'a' })])
  await repository.commit('main', { 'b.md': 'b' })
  release()
  const sha = await repository.git('rev-parse', 'main')
  t.same((await work).results, [{ outcome: 'unchanged', sha, branch: 'next' }])
  t.equal(await repository.git('rev-parse', 'next'), sha)
})

drawn('a push without a commit is never made', async (t) => {
  const repository = await create()
  const change = changeOf(repository.url, 'a.md')
  const { results } = await landAll(repository, [change], { offline: () => Promise.resolve('') })
  t.match(results, [{ reason: 'Internal', message: /created 0 of 1 commits/ }])
  t.same(await repository.log('main'), ['Begin'])
})

drawn('a session that is closed, or cannot be opened, leaves no file, and the engine none', async (t) => {
  const tempDir = t.testdir()
  const settings = { tempDir, trust: followTrust(server.caFile), fetchLimitMiB: 64 }
  const engine = openBinaryEngine(settings, openSSHSessions())
  const target = { route: REACHED, login: loginOf(PASSWORD), signal: patience(), namespace: 'shop' }
  const files = async () => readdir(join(tempDir, (await readdir(tempDir))[0] ?? ''))
  const remote = await engine.open({ ...target, address: addressOf(`${server.url}/a/b.git`) })
  t.match((await files()).sort(), ['authorities-1.pem', /^batch-/])
  await remote.close()
  t.same(await files(), ['authorities-1.pem'])
  const mismatch = { ...target, address: parseRepositoryAddress('git@git.example.com:acme/shop.git') }
  t.match(await outcomeOf(engine.open(mismatch)), { reason: 'Internal' })
  t.same(await files(), ['authorities-1.pem'])
  await engine.close()
  t.same(await readdir(tempDir), [])
})

/** Opens a session, and writes what takes a large share. */
async function writeLarge(
  t: Test,
  {
    acquireLarge,
    signal = patience(),
  }: {
    readonly acquireLarge: AcquireLarge
    readonly signal?: AbortSignal
  },
) {
  const { url } = await create()
  const settings = { tempDir: t.testdir(), trust: followTrust(server.caFile), fetchLimitMiB: 64 }
  const engine = openBinaryEngine({ ...settings, acquireLarge }, openSSHSessions())
  t.teardown(() => engine.close())
  const target = { route: REACHED, login: loginOf(PASSWORD), signal, namespace: 'shop' }
  const remote = await engine.open({ ...target, address: addressOf(url) })
  const tip = await remote.readTip({ branch: 'main' })
  if (tip === 'moved') throw new Error('The branch is not read')
  const content = Buffer.alloc(5 * 1024 * 1024)
  const files = [{ path: 'a.md', mode: '100644', content }]
  const commit = { files, message: 'Write', author: AUTHOR, date: new Date() }
  return { remote, written: await outcomeOf(remote.writeCommits(tip, [commit])) }
}

t.test('a large share that comes when nobody wants it any more is given back', async (t) => {
  const gone = new AbortController()
  let held = 0
  async function acquireLarge() {
    held += 1
    gone.abort()
    return () => void (held -= 1)
  }
  const { remote, written } = await writeLarge(t, { acquireLarge, signal: gone.signal })
  t.match(written, { reason: 'Timeout' })
  await remote.close()
  t.equal(held, 0)
})

t.test('a session that has a large share ends where others wait for that, and says so', async (t) => {
  const because = new Failure('Timeout', 'Others wait.')
  const held = new Set<LargeHolder>()
  async function acquireLarge(holder: LargeHolder) {
    held.add(holder)
    return () => void held.delete(holder)
  }
  const { remote, written } = await writeLarge(t, { acquireLarge })
  t.match(written, [/^[0-9a-f]{40}$/])
  for (const { giveWay } of held) giveWay(because)
  t.equal(remote.signal.reason, because)
  t.equal(await outcomeOf(remote.readTip({ branch: 'main' })), because)
  await remote.close()
  t.equal(held.size, 0)
})

t.test('nothing more is signed once the session has to end', async (t) => {
  const { url } = await create()
  const { signer, signal, count } = endingSigner()
  await stage.session(url, async (session) => {
    const remote = binaryRemote({ ...session, signal }, () => Promise.resolve())
    const tip = await remote.readTip({ branch: 'main' })
    if (tip === 'moved') throw new Error('The branch is not read')
    const files = [{ path: 'a.md', mode: '100644', content: Buffer.from('a') }]
    const commit = { files, message: 'Write', author: AUTHOR, date: new Date(), signer }
    t.match(await outcomeOf(remote.writeCommits(tip, [commit, commit, commit])), { reason: 'Timeout' })
  })
  t.equal(count(), 1)
})
