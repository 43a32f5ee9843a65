import { execFileSync, spawn } from 'node:child_process'
import t from 'tap'
import { FLUSH, packet } from '../../../functions/git/protocol/pkt-line.ts'
import { sample } from '../../harness/sample.ts'
import { makeKey } from '../../harness/ssh-keys.ts'
import { startFaultyServer } from '../../harness/ssh-faulty.ts'
import { withSSHServer } from '../../harness/ssh-server.ts'
import { engineTest } from './engine-test.ts'
import { keyLogin, openSSHStage, sshChange } from '../ssh/stage.ts'
import { ENGINES, outcomeOf, patience } from '../stage.ts'

// A commit over SSH, by both engines.
await withSSHServer(t, async (t, server) => {
  const login = keyLogin(server.writer, server.knownHosts)
  let count = 0
  const create = (options = {}) => server.createRepository(`acme/shop-${++count}`, options)

  for (const engine of ENGINES) {
    const test = engineTest(t, engine)
    const stage = await openSSHStage(engine)
    t.teardown(() => stage.close())

    await test('commits land, also on what was written before or is there', async (t) => {
      const repository = await create()
      const { url } = repository
      for (const path of ['a.md', 'b/c.md'])
        t.match(await stage.push(sshChange(url, path), login), { outcome: 'pushed', branch: 'main' })
      t.match(await stage.push(sshChange(url, 'a.md'), login), { outcome: 'unchanged' })
      await repository.commit('main', { 'a.md': 'by another' })
      t.match(await stage.push(sshChange(url, 'a.md'), login), { outcome: 'pushed' })
      const fresh = sshChange(url, 'd.md', { branch: 'feature/x' })
      t.match(await stage.push(fresh, login), { outcome: 'pushed', branch: 'feature/x' })
      t.same(await repository.log('main'), [
        'Write a.md',
        'Another writer was here',
        'Write b/c.md',
        'Write a.md',
        'Begin',
      ])
      t.equal(await repository.git('fsck', '--strict', '--no-dangling'), '')
    })

    await test('a file that is there is edited, also on an old tip', async (t) => {
      const repository = await create({ files: { 'a.md': '1\n', link: { mode: '120000', content: 'a.md' } } })
      const edit = (before: Uint8Array): Uint8Array => Buffer.concat([before, Buffer.from('2\n')])
      const editing = (path: string) => sshChange(repository.url, path, { files: [{ path, edit }] })
      t.match(await stage.push(editing('a.md'), login), { outcome: 'pushed' })
      await repository.commit('main', { 'b.md': 'by another' })
      t.match(await stage.push(editing('a.md'), login), { outcome: 'pushed' })
      t.match(await stage.push(editing('link'), login), { reason: 'PathConflict' })
      t.equal(await repository.show('main:a.md'), '1\n2\n2\n')
    })

    await test('an empty repository begins with the branch of its HEAD, whatever its fetches have', async (t) => {
      for (const more of [{}, { allowFilter: false }]) {
        const repository = await create({ empty: true, defaultBranch: 'trunk', ...more })
        const branch = engine === 'direct' ? 'trunk' : 'main'
        const change = sshChange(repository.url, 'first.md', { branch: undefined })
        t.match(await stage.push(change, login), { outcome: 'pushed', branch })
      }
    })

    await test('an empty repository, and the commit of an earlier attempt', async (t) => {
      const empty = await create({ empty: true })
      const since = new Date(Date.now() - 60_000)
      const change = sshChange(empty.url, 'first.md', { branch: undefined, since })
      t.match(await stage.push(change, login), { outcome: 'pushed', branch: 'main' })
      await empty.commit('main', { 'first.md': 'by another' })
      t.match(await stage.push(change, login), { outcome: 'found' })
      const late = { ...change, since: new Date(Date.now() + 3_600_000) }
      t.match(await stage.open().find(late, login, patience()), { outcome: 'found' })
    })

    await test('writers of several processes lose nothing', async (t) => {
      const repository = await create()
      const writers = [stage.open(), stage.open()]
      const work = writers.flatMap((writer, w) =>
        [1, 2].map((i) =>
          outcomeOf(writer.push(sshChange(repository.url, `${w}-${i}.md`), login, patience())),
        ),
      )
      for (const ended of await Promise.all(work)) t.match(ended, { outcome: 'pushed' })
      t.equal((await repository.log('main')).length, 5)
    })

    await test('a hook that declines is quoted, and its neighbour lands', async (t) => {
      const hooks = {
        'pre-receive':
          'while read old new ref; do if git log --name-only --format= $old..$new | grep -q bad; then echo "bad file" >&2; exit 1; fi; done',
      }
      const strict = await create({ hooks })
      const work = ['a.md', 'bad.md', 'c.md'].map((path) => stage.push(sshChange(strict.url, path), login))
      t.match(await Promise.all(work), [
        { outcome: 'pushed' },
        { reason: 'PushRejected', message: /reports "bad file"/ },
        { outcome: 'pushed' },
      ])
    })

    const none = `${server.url}/acme/none.git`
    const { url } = await create()
    for (const [name, address, key, expected] of [
      [
        'a key that may only read',
        url,
        server.reader,
        { reason: 'PermissionDenied', message: /does not permit it to write/ },
      ],
      ['a key that is not known', url, makeKey('-t', 'ed25519'), { reason: 'AuthenticationFailed' }],
      [
        'a repository that is not there',
        none,
        server.writer,
        { reason: 'RepositoryNotFound', message: /does not exist/ },
      ],
    ] as const)
      await test(`${name} is ${expected.reason}`, async (t) => {
        const own = keyLogin(key, server.knownHosts)
        t.match(await stage.push(sshChange(address, 'x.md'), own), expected)
      })

    await test('a push that may not begin any more is not sent', async (t) => {
      const repository = await create()
      let confirmed = 0
      // It is confirmed again and again, and too old whenever it is to be sent.
      const claim = {
        async confirm() {
          confirmed += 1
          if (confirmed > 2) abort.abort()
        },
        remaining: () => 0,
      }
      const abort = new AbortController()
      const change = sshChange(repository.url, 'a.md')
      const ended = await outcomeOf(stage.open().push(change, login, abort.signal, { claim }))
      t.match(ended, { reason: 'Timeout' })
      t.equal(confirmed, 3)
      t.same(await repository.log('main'), ['Begin'])
    })

    await test('a push whose time is over ends', async (t) => {
      const hanging = await create({ hooks: { 'pre-receive': 'sleep 3' } })
      const ended = await stage.push(sshChange(hanging.url, 'a.md'), login, AbortSignal.timeout(1_000))
      t.match(ended, { reason: 'Timeout' })
    })
  }
})

const faulty = await startFaultyServer()
t.teardown(() => faulty.close())
const known = keyLogin(makeKey('-t', 'ed25519'), faulty.knownHosts)

/** Words that hosts print instead of an answer, and what they mean (test/git/ssh/ssh-errors.test.ts has them all). */
const WORDS: readonly (readonly [string, { readonly reason: string; readonly message?: RegExp }])[] = [
  ['ERROR: Repository not found.\n', { reason: 'RepositoryNotFound' }],
  ['remote: This repository is archived.\n', { reason: 'PermissionDenied', message: /is archived/ }],
  ['too many requests\n', { reason: 'RateLimited' }],
  ['we are somewhere else\n', { reason: 'ProviderUnavailable', message: /reports "we are somewhere else"/ }],
  ['', { reason: 'NetworkError', message: /gave no reason/ }],
]
for (const engine of ENGINES)
  for (const [words, expected] of sample(WORDS, () => engine))
    t.test(`${engine}: ${JSON.stringify(words)} instead of Git is ${expected.reason}`, async (t) => {
      const stage = await openSSHStage(engine)
      t.teardown(() => stage.close())
      faulty.faults.command = (channel) => {
        channel.stderr.write(words)
        channel.exit(1)
        channel.end()
        return true
      }
      const ended = await stage.push(sshChange(`${faulty.url}/acme/shop.git`, 'a.md'), known)
      delete faulty.faults.command
      t.match(ended, expected)
    })

for (const engine of ENGINES) {
  const test = engineTest(t, engine)
  test('a project that has moved is not written to', async (t) => {
    const repository = await faulty.createRepository(`acme/moved-${engine.length}`)
    const stage = await openSSHStage(engine)
    t.teardown(() => stage.close())
    faulty.faults.command = (channel) => {
      channel.stderr.write("remote: Project 'acme/moved' was moved to 'acme/new'.\n")
      return false
    }
    const ended = await stage.push(sshChange(repository.url, 'a.md'), known)
    delete faulty.faults.command
    t.match(ended, { reason: 'RepositoryNotFound', message: /has moved to ssh:.*acme\/new/ })
    t.same(await repository.log('main'), ['Begin'])
  })
}

for (const engine of ENGINES) {
  const test = engineTest(t, engine)
  test('a new branch is made also where the default branch moves before its push', async (t) => {
    const repository = await faulty.createRepository(`acme/new-${engine.length}`, { branches: ['side'] })
    const next = await repository.commit('side', { 'b.md': 'by another' })
    const stage = await openSSHStage(engine)
    t.teardown(() => stage.close())
    faulty.faults.command = (_channel, command) => {
      const move = ['-C', repository.path, 'update-ref', 'refs/heads/main', next]
      if (command.includes('receive-pack')) execFileSync('git', move)
      return false
    }
    const ended = await stage.push(sshChange(repository.url, 'a.md', { branch: 'new' }), known)
    delete faulty.faults.command
    t.match(ended, { outcome: 'pushed', branch: 'new' })
  })

  test('an error in place of the report is no refusal: the branch shows what became of the push', async (t) => {
    const repository = await faulty.createRepository(`acme/silent-${engine.length}`)
    const stage = await openSSHStage(engine)
    t.teardown(() => stage.close())
    faulty.faults.command = (channel, command) => {
      if (!command.includes('receive-pack')) return false
      const program = spawn('git', ['receive-pack', repository.path])
      let isAsked = false
      channel.once('data', () => (isAsked = true))
      // In a side band, git takes it for a broken one.
      program.stdout.on('data', (list: Buffer) => {
        const plain = Buffer.from(list.toString('latin1').replace('side-band-64k', 'none-band-64k'), 'latin1')
        if (!isAsked) channel.write(plain)
      })
      program.on('close', () => {
        channel.end(packet('ERR no commits selected for shallow requests'))
        channel.exit(128)
      })
      channel.pipe(program.stdin)
      return true
    }
    const ended = await stage.push(sshChange(repository.url, 'a.md'), known)
    delete faulty.faults.command
    t.match(ended, { outcome: 'pushed', sha: await repository.git('rev-parse', 'main') })
    t.same(await repository.log('main'), ['Write a.md', 'Begin'])
  })
}

t.test('a server of version 0 is handed to the git binary', async (t) => {
  const repository = await faulty.createRepository('acme/old')
  const told: string[] = []
  const stage = await openSSHStage('direct')
  t.teardown(() => stage.close())
  const writer = stage.open({ handedOver: ({ why }) => void told.push(why) })
  faulty.faults.command = (channel, command) => {
    if (!command.includes('upload-pack') || told.length > 0) return false
    channel.write(Buffer.concat([packet(`${'1'.repeat(40)} HEAD\0agent=git\n`), FLUSH]))
    return true
  }
  t.match(await outcomeOf(writer.push(sshChange(repository.url, 'a.md'), known, patience())), {
    outcome: 'pushed',
  })
  delete faulty.faults.command
  t.match(told, [/version 2/])
})
