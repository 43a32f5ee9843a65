import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { preview, type Preview } from '../../../functions/git/writer/preview.ts'
import { withSSHServer } from '../../harness/ssh-server.ts'
import { keyLogin, openSSHStage, sshChange } from '../ssh/stage.ts'
import { changeOf, ENGINES, loginOf, openStage, outcomeOf, PASSWORD, patience, USER } from '../stage.ts'
import { memoryRepository } from '../writer/memory-remote.ts'
import { engineTest } from './engine-test.ts'

// What a push would do, without one, by both engines.
const READER = { username: 'reader', password: 'read-0815', right: 'read' } as const
const stage = await openStage({ users: [USER, READER] })
t.teardown(() => stage.close())
const { server } = stage
let count = 0
const names = (): string => `preview/${++count}`

/** The files as text; a Failure as it is. */
function texts({ files }: Preview): unknown {
  if (files instanceof Failure) return files
  const text = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString()
  return files.map(({ path, before, after }) => [path, text(before), text(after)])
}

for (const engine of ENGINES) {
  const test = engineTest(t, engine)
  const git = stage.open({ engine: engine === 'direct' ? 'direct' : 'binary' })
  const look = (change: ReturnType<typeof changeOf>, password = PASSWORD, username?: string) =>
    git.preview(change, loginOf(password, username), patience())

  test('the files before and after, and nothing is written', async (t) => {
    const repository = await server.createRepository(names(), {
      files: { 'a.md': 'old\n', 'b.md': 'gone\n' },
    })
    const tip = await repository.git('rev-parse', 'main')
    const edit = (before: Uint8Array): Uint8Array => Buffer.concat([before, Buffer.from('2\n')])
    const files = [
      { path: 'a.md', edit },
      { path: 'b.md' },
      { path: 'c/d.md', content: Buffer.from('new\n') },
    ]
    const begun = server.requests.length
    const seen = await look(changeOf(repository.url, 'a.md', { files }))
    t.match(seen, { branch: 'main', tip, exists: true, refusal: undefined })
    t.same(texts(seen), [
      ['a.md', 'old\n', 'old\n2\n'],
      ['b.md', 'gone\n', undefined],
      ['c/d.md', undefined, 'new\n'],
    ])
    t.equal(await repository.git('rev-parse', 'main'), tip)
    const asked = server.requests.slice(begun).map(({ exchange }) => exchange)
    t.notOk(asked.includes('receive-pack'), 'no push is sent')
  })

  test('what the branch holds already, and a branch that is not there', async (t) => {
    const repository = await server.createRepository(names(), { files: { 'a.md': 'same\n' } })
    const change = changeOf(repository.url, 'a.md', { text: 'same\n' })
    t.same(texts(await look(change)), [])
    t.match(await look({ ...change, branch: 'new' }), { branch: 'new', exists: false, refusal: undefined })
  })

  test('an empty repository, also for who may only read it', async (t) => {
    const name = names()
    const repository = await server.createRepository(name, { empty: true })
    const change = changeOf(repository.url, 'a.md')
    t.match(await look(change), { tip: undefined, exists: false, refusal: undefined })
    const refused = await look(change, READER.password, READER.username)
    t.match(refused, { tip: undefined, refusal: { reason: 'PermissionDenied' } })
    t.equal(await repository.git('for-each-ref'), '')
  })

  test('who may only read sees the branch, and why the push would be refused', async (t) => {
    const repository = await server.createRepository(names())
    const seen = await look(changeOf(repository.url, 'a.md'), READER.password, READER.username)
    t.match(seen, { exists: true, files: [{ path: 'a.md' }], refusal: { reason: 'PermissionDenied' } })
  })

  test('a path that cannot be written, and a log-in that fails', async (t) => {
    const repository = await server.createRepository(names(), { files: { 'a/b.md': 'x' } })
    t.match(texts(await look(changeOf(repository.url, 'a'))), { reason: 'PathConflict' })
    const wrong = outcomeOf(look(changeOf(repository.url, 'a.md'), 'wrong'))
    t.match(await wrong, { reason: 'AuthenticationFailed' })
  })
}

t.test('what is no answer of receive-pack, and an outage while it is asked', async (t) => {
  const name = names()
  const repository = await server.createRepository(name)
  const change = changeOf(repository.url, 'a.md')
  const refs = { repository: name, exchange: 'receive-pack-refs' } as const
  const off = server.faults.add({ kind: 'status', status: 503 }, refs)
  const seen = await stage.open().preview(change, loginOf(PASSWORD), patience())
  t.match(seen, { files: [{ path: 'a.md' }], refusal: { reason: 'ProviderUnavailable' } })
  off()
  // The git binary is asked instead, and finds the same.
  server.faults.add({ kind: 'page' }, refs)
  const page = await stage.open().preview(change, loginOf(PASSWORD), patience())
  t.match(page.refusal, { reason: 'RepositoryNotFound' })
})

t.test('a branch that moves whenever it is read', async (t) => {
  const repository = memoryRepository()
  repository.onRead = () => 'moved'
  const reading = preview(repository.open(), changeOf('https://git.example.com/a/b.git', 'a.md'))
  t.match(await outcomeOf(reading), { reason: 'Conflict' })
})

await withSSHServer(t, async (t, server) => {
  for (const engine of ENGINES) {
    const test = engineTest(t, engine)
    const sshStage = await openSSHStage(engine)
    t.teardown(() => sshStage.close())
    await test('over SSH', async (t) => {
      const repository = await server.createRepository(`acme/preview-${++count}`)
      const login = keyLogin(server.writer, server.knownHosts)
      const change = sshChange(repository.url, 'a.md', { text: 'x\n' })
      const seen = await sshStage.open().preview(change, login, patience())
      t.match(seen, { branch: 'main', exists: true, refusal: undefined })
      t.same(texts(seen), [['a.md', undefined, 'x\n']])
      const reader = keyLogin(server.reader, server.knownHosts)
      const refused = await sshStage.open().preview(change, reader, patience())
      t.match(refused.refusal, { reason: 'PermissionDenied' })
    })
  }
})
