import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { deepen, fetchTip, readRemoteTip } from '../../../functions/git/session/fetch.ts'
import { sample } from '../../harness/sample.ts'
import { openStage, outcomeOf, PASSWORD } from '../stage.ts'
import { drawnTests } from '../../harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

const stage = await openStage()
t.teardown(() => stage.close())
const { server } = stage
let letters = 0

t.test('an existing branch is fetched without blobs and history, in three requests', async (t) => {
  const repository = await server.createRepository('fetch/plain')
  const tip = await repository.commit('main', { 'a.md': 'a' })
  const before = server.requests.length
  await stage.session(repository.url, async (session) => {
    t.same(await fetchTip(session, { branch: 'main' }), { branch: 'main', commit: tip, exists: true })
    t.equal(server.requests.length - before, 3)
    t.equal(
      await session
        .offline(['rev-list', '--objects', '--missing=print', 'refs/base'])
        .then((list) => list.split('\n').filter((line) => line.startsWith('?')).length),
      2,
    )
    t.notMatch((await session.workspace.readLines('config')).join('\n'), 'promisor')
    t.equal(await session.offline(['rev-list', '--count', 'refs/base']), '1\n')
  })
})

const names = [
  ['trunk', '0'],
  ['größe', '0'],
  ['größe', '2'],
  ['übung7/日本', '2'],
] as const
for (const [name, version] of sample(names, ([, version]) => version)) {
  drawn(`the default branch ${name} is known by protocol ${version}`, async (t) => {
    const repository = await server.createRepository(`fetch/letters-${++letters}`, { defaultBranch: name })
    const before = server.requests.length
    await stage.session(
      repository.url,
      async (session) =>
        t.match(await fetchTip(session, { branch: undefined }), { branch: name, exists: true }),
      { path: await pathWithGit(version) },
    )
    const asked = server.requests.slice(before).some(({ command }) => command === 'ls-refs')
    t.equal(asked, version === '2')
  })
}

drawn('a login page is not an empty repository', async (t) => {
  const repository = await server.createRepository('fetch/page')
  t.teardown(server.faults.add({ kind: 'page' }, { repository: 'fetch/page' }))
  await stage.session(repository.url, async (session) => {
    t.match(await outcomeOf(fetchTip(session, { branch: 'main' })), {
      reason: 'RepositoryNotFound',
      message: /login page/,
    })
  })
})

drawn('an empty answer is not an empty repository either', async (t) => {
  const repository = await server.createRepository('fetch/nothing')
  t.teardown(server.faults.add({ kind: 'status', status: 200 }, { repository: 'fetch/nothing' }))
  await stage.session(repository.url, async (session) => {
    const failure = await outcomeOf(fetchTip(session, { branch: 'main' }))
    t.match(failure, { reason: 'RepositoryNotFound', message: /does not answer as a Git repository;/ })
  })
})

drawn('a git process that fetches nothing and prints nothing is a bug', async (t) => {
  await stage.session(server.url, async (session) => {
    const ended = { exitCode: 0, stdout: '', stderr: '', seconds: 1 }
    const mute = {
      ...session,
      online: () => Promise.resolve({ ended, meaning: undefined, undelivered: false }),
    }
    t.match(await outcomeOf(fetchTip(mute, { branch: 'main' })), {
      reason: 'Internal',
      message: /fetched nothing/,
    })
  })
})

drawn('an answer that breaks off before its pack is an error of the connection', async (t) => {
  const { url, name } = await server.createRepository('fetch/cut')
  t.teardown(server.faults.add({ kind: 'cut', bytes: 17 }, { repository: name, command: 'fetch' }))
  await stage.session(url, async (session) => {
    t.match(await outcomeOf(fetchTip(session, { branch: 'main' })), { reason: 'NetworkError' })
  })
})

drawn(
  'where the answer with the history since a time breaks off, all of it is fetched all the same',
  async (t) => {
    const repository = await server.createRepository('fetch/cut-since', { empty: true })
    const dates = Array.from({ length: 62 }, (_, i) => new Date(Date.UTC(2026, 0, i + 1)).toISOString())
    await datedCommits(repository, dates)
    const first = { repository: repository.name, command: 'fetch', times: 1 } as const
    t.teardown(server.faults.add({ kind: 'cut', bytes: 17 }, first))
    await stage.session(repository.url, async (session) => {
      await fetchTip(session, { branch: 'main', since: new Date('2026-01-05') })
      t.equal(await session.offline(['rev-list', '--count', 'refs/base']), '62\n')
    })
  },
)

drawn('a server without filters sends the blobs, and the fetch succeeds', async (t) => {
  const repository = await server.createRepository('fetch/full', { allowFilter: false })
  await stage.session(repository.url, async (session) => {
    t.match(await fetchTip(session, { branch: 'main' }), { exists: true })
  })
})

drawn('history since a time is fetched without older commits, and deepened by one', async (t) => {
  const repository = await server.createRepository('fetch/since', { empty: true })
  const [, second] = await datedCommits(repository, ['2026-01-01', '2026-02-01', '2026-03-01', '2026-04-01'])
  await stage.session(repository.url, async (session) => {
    await fetchTip(session, { branch: 'main', since: new Date('2026-02-15T00:00:00Z') })
    t.equal(await session.offline(['rev-list', '--count', 'refs/base']), '2\n')
    await deepen(session, 'refs/heads/main', 1)
    t.equal(await session.offline(['rev-list', '--count', 'refs/base']), '3\n')
    t.equal((await session.workspace.readLines('shallow'))[0], second)
  })
})

drawn('history that cannot be deepened is not taken for all that there is', async (t) => {
  const repository = await server.createRepository('fetch/undeepened')
  const tip = await repository.commit('main', { 'a.md': 'a' })
  await stage.session(repository.url, async (session) => {
    await fetchTip(session, { branch: 'main' })
    const next = { repository: repository.name, command: 'fetch', times: 1 } as const
    server.faults.add({ kind: 'cut', bytes: 17 }, next)
    t.match(await outcomeOf(deepen(session, 'refs/heads/main', 1)), { reason: 'NetworkError' })
    await repository.git('branch', '-m', 'main', 'other')
    t.match(await outcomeOf(deepen(session, 'refs/heads/main', 1)), { reason: 'Conflict' })
    await repository.git('branch', '-m', 'other', 'main')
    await deepen(session, 'refs/heads/main', 1)
    t.equal(await session.offline(['rev-parse', 'refs/base']), `${tip}\n`)
  })
})

drawn('a server that refuses the filter is asked without it', async (t) => {
  const repository = await server.createRepository('fetch/unfiltered', {
    config: { 'uploadpackfilter.allow': 'false' },
  })
  const tip = await repository.commit('main', { 'a.md': 'a' })
  await stage.session(repository.url, async (session) => {
    t.match(await fetchTip(session, { branch: 'main' }), { commit: tip })
    await deepen(session, 'refs/heads/main', 1)
    t.equal(await session.offline(['rev-list', '--count', 'refs/base']), '2\n')
  })
})

drawn('where nothing is newer the latest 50 commits are fetched', async (t) => {
  const repository = await server.createRepository('fetch/older', { empty: true })
  await datedCommits(repository, ['2026-01-01', '2026-02-01'])
  await stage.session(repository.url, async (session) => {
    t.match(await fetchTip(session, { branch: 'main', since: new Date('2026-05-01T00:00:00Z') }), {
      exists: true,
    })
    t.equal(await session.offline(['rev-list', '--count', 'refs/base']), '2\n')
  })
})

drawn('a server that knows neither dates nor relative depths is asked for depths', async (t) => {
  const repository = await server.createRepository('fetch/depths', { empty: true })
  const dates = Array.from({ length: 62 }, (_, i) => new Date(Date.UTC(2026, 0, i + 1)).toISOString())
  await datedCommits(repository, dates)
  // As that of Azure DevOps, in protocol version 0.
  const refs = await repository.git('upload-pack', '--advertise-refs', '.')
  const body = `001e# service=git-upload-pack\n0000${refs.replaceAll(' deepen-', ' absent-')}`
  const headers = { 'content-type': 'application/x-git-upload-pack-advertisement' }
  const at = { repository: repository.name, exchange: 'upload-pack-refs' } as const
  t.teardown(server.faults.add({ kind: 'status', status: 200, headers, body }, at))
  const countSince = (since: string): Promise<string> =>
    stage.session(repository.url, async (session) => {
      await fetchTip(session, { branch: 'main', since: new Date(since) })
      await deepen(session, 'refs/heads/main', 5)
      return session.offline(['rev-list', '--count', 'refs/base'])
    })
  t.equal(await countSince('2026-02-15'), '55\n')
  t.equal(await countSince('2026-01-05'), '62\n')
})

drawn('a fetch above the limit is refused by its size', async (t) => {
  const repository = await server.createRepository('fetch/endless')
  t.teardown(server.faults.add({ kind: 'endless' }, { repository: 'fetch/endless', command: 'fetch' }))
  await stage.session(
    repository.url,
    async (session) => {
      t.match(await outcomeOf(fetchTip(session, { branch: 'main' })), {
        reason: 'NotSupported',
        message: /fetches more than 2 MiB/,
      })
    },
    { fetchLimitMiB: 2 },
  )
})

drawn('an endless list of refs ends at the memory limit of git', async (t) => {
  const repository = await server.createRepository('fetch/refs')
  t.teardown(
    server.faults.add({ kind: 'endless' }, { repository: 'fetch/refs', exchange: 'upload-pack-refs' }),
  )
  await stage.session(
    repository.url,
    async (session) => {
      t.match(await outcomeOf(fetchTip(session, { branch: 'main' })), {
        reason: 'NotSupported',
        message: /lists more refs or objects than Git can hold/,
      })
    },
    { memoryMiB: 24 },
  )
})

drawn('the tip of a branch is requested on its own', async (t) => {
  const repository = await server.createRepository('fetch/tip')
  await stage.session(repository.url, async (session) => {
    t.equal(await readRemoteTip(session, 'main'), await repository.git('rev-parse', 'main'))
    t.equal(await readRemoteTip(session, 'none'), undefined)
  })
  await stage.session(
    repository.url,
    async (session) => {
      t.match(await outcomeOf(readRemoteTip(session, 'main')), { reason: 'AuthenticationFailed' })
    },
    { password: `${PASSWORD}x` },
  )
})

drawn('the tip of a branch is not that of a ref whose name ends in the same way', async (t) => {
  const repository = await server.createRepository('fetch/ends')
  const main = await repository.git('rev-parse', 'main')
  await repository.commit('main', { 'b.md': 'b' })
  await repository.git('update-ref', 'refs/a/refs/heads/main', main)
  await repository.git('update-ref', 'refs/a/refs/heads/gone', main)
  await stage.session(
    repository.url,
    async (session) => {
      t.equal(await readRemoteTip(session, 'main'), await repository.git('rev-parse', 'main'))
      t.equal(await readRemoteTip(session, 'gone'), undefined)
    },
    { path: await pathWithGit('0') },
  )
})

/** A PATH whose git uses this version of the protocol. */
async function pathWithGit(version: string): Promise<string> {
  const folder = await mkdtemp(join(stage.tempDir, 'bin-'))
  const path = process.env['PATH'] ?? ''
  const script = `#!/bin/sh\nPATH='${path}' exec git -c protocol.version=${version} "$@"\n`
  await writeFile(join(folder, 'git'), script, { mode: 0o755 })
  return `${folder}:${path}`
}

interface Repository {
  git(...args: readonly string[]): Promise<string>
}

/** Commits on main with these dates, oldest first; returns their names. */
async function datedCommits(repository: Repository, days: readonly string[]): Promise<readonly string[]> {
  const tree = await repository.git('hash-object', '-t', 'tree', '-w', '/dev/null')
  const names: string[] = []
  for (const day of days) {
    const parent = names.at(-1)
    const lines = [`tree ${tree}`, ...(parent === undefined ? [] : [`parent ${parent}`])]
    const by = `Another Writer <writer@example.com> ${Date.parse(day) / 1000} +0000`
    const text = [...lines, `author ${by}`, `committer ${by}`, '', `On ${day}`, ''].join('\n')
    const file = join(stage.tempDir, '..', `commitlet-commit-${process.pid}`)
    await writeFile(file, text)
    names.push(await repository.git('hash-object', '-t', 'commit', '-w', file))
    await rm(file)
  }
  await repository.git('update-ref', 'refs/heads/main', names.at(-1) ?? '')
  return names
}
