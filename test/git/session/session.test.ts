import { randomBytes } from 'node:crypto'
import { mkdtemp, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Session } from '../../../functions/git/session/session.ts'
import type { OnlineResult } from '../../../functions/git/session/transport.ts'
import { openStage, outcomeOf } from '../stage.ts'
import { deltaBomb } from './delta-bomb.ts'
import { drawnTests } from '../../harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

const stage = await openStage()
t.teardown(() => stage.close())
const repository = await stage.server.createRepository('session/plain', { files: { 'a.md': 'a' } })
const FETCH = [
  'fetch',
  '-q',
  '--depth=1',
  '--filter=blob:none',
  '--',
  repository.url,
  '+refs/heads/main:refs/base',
]

t.test('an online git process logs in, and its result is classified', async (t) => {
  await stage.session(repository.url, async (session) => {
    const good = await session.online(['ls-remote', '--', repository.url])
    t.match(good, { ended: { exitCode: 0 }, meaning: undefined })
    const bad = await session.online(['ls-remote', '--', '--upload-pack=x'])
    t.match(bad, { ended: { exitCode: 128 }, meaning: { reason: 'Internal' } })
  })
})

drawn('nothing but the repository is called, even on the same host', async (t) => {
  await stage.session(repository.url, async (session) => {
    const before = stage.server.requests.length
    for (const url of [
      `${stage.server.url}/session/other.git`,
      `${repository.url}/x`,
      'https://git.example.com/a.git',
    ]) {
      const { meaning } = await session.online(['ls-remote', '--', url])
      t.match(meaning, { reason: 'NetworkError' })
    }
    t.equal(stage.server.requests.length, before)
  })
})

drawn('FETCH_LIMIT is for all fetches of a session together', async (t) => {
  const files = (name: string) => ({ [name]: randomBytes(700 * 1024) })
  const heavy = await stage.server.createRepository('session/heavy', {
    files: files('a'),
    allowFilter: false,
  })
  const fetch = FETCH.map((arg) => (arg === repository.url ? heavy.url : arg))
  async function fetchTwice(fetchLimitMiB: number): Promise<readonly OnlineResult[]> {
    const work = async (session: Session) => {
      const first = await session.online(fetch, { fetches: true })
      await heavy.commit('main', files('a'))
      await session.online(['ls-remote', '--', heavy.url])
      return [first, await session.online(fetch, { fetches: true })]
    }
    return stage.session(heavy.url, work, { fetchLimitMiB })
  }
  t.match(await fetchTwice(2), [{ meaning: undefined }, { meaning: undefined }])
  t.match(await fetchTwice(1), [
    { meaning: undefined },
    {
      meaning: {
        reason: 'NotSupported',
        message: /one attempt fetches more than 1 MiB; your Commitlet operator may raise FETCH_LIMIT/,
      },
    },
  ])
})

drawn('a pack that is work without end runs again with a large share, and ends for good', async (t) => {
  const hostile = await stage.server.createRepository('session/bomb')
  const headers = { 'content-type': 'application/x-git-upload-pack-result' }
  t.teardown(
    stage.server.faults.add(
      { kind: 'status', status: 200, headers, body: deltaBomb(3_000) },
      { repository: 'session/bomb', command: 'fetch' },
    ),
  )
  const fetch = FETCH.map((arg) => (arg === repository.url ? hostile.url : arg))
  let raised = 0
  const raise = () => Promise.resolve({ memoryMiB: 32, fileMiB: 64, cpuSeconds: 1, raised: ++raised })
  const { ended, meaning } = await stage.session(
    hostile.url,
    (session) => session.online(fetch, { fetches: true }),
    { cpuSeconds: 1, memoryMiB: 32, raise },
  )
  t.match(meaning, { reason: 'NotSupported', message: /more work for Git .* ATTEMPT_DEADLINE/ })
  t.equal(raised, 1)
  t.ok(ended.seconds < 20, `${ended.seconds} s`)
})

drawn('an offline git process that takes too much of the processor is not a bug', async (t) => {
  const bin = await mkdtemp(join(stage.tempDir, 'bin-'))
  await writeFile(join(bin, 'git'), '#!/bin/sh\nwhile :; do :; done\n', { mode: 0o755 })
  const path = `${bin}:${process.env['PATH'] ?? ''}`
  const work = (session: Session) => outcomeOf(session.offline(['ls-tree']))
  t.match(await stage.session(repository.url, work, { cpuSeconds: 1, path }), {
    reason: 'NotSupported',
    message: /more work for Git/,
  })
})

drawn('other transports are disabled, online and offline', async (t) => {
  await stage.session(repository.url, async (session) => {
    for (const url of [
      'ext::sh -c true',
      repository.path,
      `file://${repository.path}`,
      'http://localhost/a.git',
    ]) {
      const { ended } = await session.online(['ls-remote', '--', url])
      t.match(ended.stderr, /transport '(ext|file|http)' not allowed/)
    }
    for (const url of [repository.url, repository.path]) {
      const failure: unknown = await session
        .offline(['ls-remote', '--', url])
        .catch((error: unknown) => error)
      t.match(failure, { cause: { message: /transport '(https|file)' not allowed/ } })
    }
  })
})

drawn('an offline git process that needs the network is a bug, reported without details', async (t) => {
  await stage.session(repository.url, async (session) => {
    const failure: unknown = await session
      .offline(['rev-parse', '--verify', 'none'])
      .catch((error: unknown) => error)
    t.match(failure, {
      reason: 'Internal',
      message: /could not prepare the commit/,
      cause: { message: /rev-parse ended with 128/ },
    })
  })
})

drawn('a blob that was not fetched is never fetched by another command', async (t) => {
  await stage.session(repository.url, async (session) => {
    await session.online(FETCH, { fetches: true })
    const before = stage.server.requests.length
    t.match(await session.offline(['cat-file', '-p', 'refs/base:a.md']).catch(String), /could not prepare/)
    t.equal(stage.server.requests.length, before)
  })
})

drawn('the protocol is traced into a file on request', async (t) => {
  await stage.session(repository.url, async (session) => {
    await session.online(FETCH, { fetches: true, traced: true })
    t.ok((await session.workspace.readTrace()).some((line) => line.endsWith('< version 2')))
  })
})

drawn('the trace takes 256 KiB of the disk, and a longer one is no error', async (t) => {
  const talkative = await stage.server.createRepository('session/talkative')
  const bytes = await makeRefs(talkative.path, await talkative.git('rev-parse', 'main'))
  t.ok(bytes > MEBIBYTE, 'the refs alone are larger')
  for (const fetchLimitMiB of [0.25, 1, 64]) {
    let raised = 0
    const raise = () => Promise.resolve({ memoryMiB: 256, fileMiB: 64, cpuSeconds: 30, raised: ++raised })
    await stage.session(
      talkative.url,
      async (session) => {
        const { meaning } = await session.online(['ls-remote', '-q', '--', talkative.url], { traced: true })
        t.equal(meaning, undefined)
        const [first = ''] = await session.workspace.readTrace()
        t.match(first, /^\d\d:\d\d:\d\d\.\d{6} pkt-line\.c.*< version 2$/)
        const { size, blocks } = await stat(join(session.workspace.folder, 'packets'))
        t.equal(size, fetchLimitMiB * MEBIBYTE, 'it has reached its limit')
        t.ok(blocks * 512 <= 260 * 1024, `${blocks} blocks`)
      },
      { fetchLimitMiB, raise },
    )
    t.equal(raised, 0)
  }
})

const MEBIBYTE = 1024 * 1024

/** Makes 20,000 refs, packed; returns the bytes of their names. */
async function makeRefs(folder: string, sha: string): Promise<number> {
  const refs = Array.from({ length: 20_000 }, (_, i) => `${sha} refs/tags/${'x'.repeat(20)}-${i}\n`).join('')
  await writeFile(join(folder, 'packed-refs'), refs)
  return refs.length
}
