import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { GitSettings } from '../../../functions/git/git.ts'
import { FIRST_LIMITS, limitsWithin, memoryOf } from '../../../functions/git/session/limits.ts'
import type { LargeHolder } from '../../../functions/git/session/binary-engine.ts'
import { drawnTests } from '../../harness/drawn-test.ts'
import type { GitRepository } from '../../harness/git-repository.ts'
import { sample } from '../../harness/sample.ts'
import { changeOf, openStage, outcomeOf, until } from '../stage.ts'

const stage = await openStage()
t.teardown(() => stage.close())
const { server } = stage
const MIB = 1024 * 1024

/** Gives out large shares, and notes who gets one, and whether its folder is still there when it is given back. */
function makeLarge() {
  const holders: LargeHolder[] = []
  const returned: boolean[] = []
  const settings: Partial<GitSettings> = {
    async acquireLarge(holder) {
      holders.push(holder)
      return () => void returned.push(existsSync(holder.resource))
    },
  }
  return { holders, returned, settings }
}

async function push(url: string, settings: Partial<GitSettings>, more: Parameters<typeof changeOf>[2] = {}) {
  return write(url, 'a.md', settings, more)
}

function write(
  url: string,
  path: string,
  settings: Partial<GitSettings>,
  more: Parameters<typeof changeOf>[2] = {},
) {
  return outcomeOf(stage.push('git binary', changeOf(url, path, more), settings))
}

/** Many refs at the tip of main, as git packs them. */
async function packRefs(path: string, sha: string, count: number): Promise<void> {
  const lines = Array.from(
    { length: count },
    (_, i) => `${sha} refs/heads/topic/${String(i).padStart(6, '0')}\n`,
  )
  await writeFile(
    join(path, 'packed-refs'),
    `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`,
  )
}

t.test('what a session may hold and the limits of its processes belong together', async (t) => {
  t.equal(memoryOf(FIRST_LIMITS), 40)
  t.same(limitsWithin(memoryOf(FIRST_LIMITS), FIRST_LIMITS.fileMiB), FIRST_LIMITS)
  t.equal(limitsWithin(100_000, 1).memoryMiB, 128)
})

t.test('a commit to an ordinary repository needs no large share', async (t) => {
  const repository = await server.createRepository('limits/ordinary')
  await packRefs(repository.path, await repository.git('rev-parse', 'main'), 10_000)
  const large = makeLarge()
  t.match(await push(repository.url, large.settings), { outcome: 'pushed' })
  t.same(large.holders, [])
})

async function fetchMuch(t: Test): Promise<void> {
  const files = { noise: randomBytes(5 * MIB) }
  const repository = await server.createRepository('limits/large', { allowFilter: false, files })
  const large = makeLarge()
  t.match(await push(repository.url, large.settings), { outcome: 'pushed' })
  t.match(large.holders, [{ namespace: 'shop', host: 'localhost', resource: /batch-/ }])
  await until('its end', async () => large.returned.length > 0)
  t.same(large.returned, [false], 'given back once its files are gone')
  // What was fetched in vain at first does not count.
  t.match(await push(repository.url, { ...makeLarge().settings, fetchLimitMiB: 7 }, { text: 'again' }), {
    outcome: 'pushed',
  })
}

async function readManyRefs(t: Test): Promise<void> {
  const repository = await server.createRepository('limits/refs')
  await packRefs(repository.path, await repository.git('rev-parse', 'main'), 60_000)
  const large = makeLarge()
  t.match(await push(repository.url, large.settings), { outcome: 'pushed' })
  t.equal(large.holders.length, 1)
  t.equal((await repository.log()).length, 2, 'one commit')
}

async function writeMuch(t: Test): Promise<void> {
  const repository = await server.createRepository('limits/content')
  const large = makeLarge()
  const files = [{ path: 'a.bin', content: randomBytes(5 * MIB) }]
  t.match(await push(repository.url, large.settings, { files }), { outcome: 'pushed' })
  t.equal(large.holders.length, 1)
}

/** Files of 2 MiB, which take next to nothing in a pack. */
function largeFiles(count: number): Readonly<Record<string, string>> {
  const text = 'x'.repeat(2 * MIB - 3)
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`${i}.md`, text + String(100 + i)]))
}

async function editMuch(t: Test): Promise<void> {
  const repository = await server.createRepository('limits/edited', { files: largeFiles(3) })
  const large = makeLarge()
  const edit = (): Buffer => Buffer.from('edited')
  const files = ['0.md', '1.md', '2.md'].map((path) => ({ path, edit }))
  t.match(await push(repository.url, large.settings, { files: files.slice(1) }), { outcome: 'pushed' })
  t.same(large.holders, [], 'files of 4 MiB need none')
  await repository.git('update-ref', 'refs/heads/main', 'main^')
  t.match(await push(repository.url, large.settings, { files }), { outcome: 'pushed' })
  t.equal(large.holders.length, 1)
}

const beyond = [
  ['a repository that is too large for the first limits is fetched with a large share', fetchMuch],
  ['refs that are too many for the first limits when pushing are read with a large share', readManyRefs],
  ['content above the first limit is written with a large share', writeMuch],
  ['files to edit above the first limit are read with a large share', editMuch],
] as const
for (const [title, test] of sample(beyond, () => 'beyond the first limits')) t.test(title, test)

/** The name of one of the files of `widenRoot`. */
function nameOf(i: number): string {
  return String(i).padStart(64, '0')
}

/** Adds empty files with long names to the root of main, in one commit, which is returned: its tree has 3.7 MB. */
async function widenRoot(repository: GitRepository): Promise<string> {
  const empty = join(repository.path, 'empty')
  await writeFile(empty, '')
  const blob = await repository.git('hash-object', '-w', empty)
  const names = Array.from({ length: 40_000 }, (_, i) => nameOf(i))
  const head = `commit refs/heads/main\ncommitter A <a@example.com> ${Math.floor(Date.now() / 1000)} +0000\ndata 4\nMany\n`
  const files = names.map((name) => `M 100644 ${blob} ${name}\n`).join('')
  const input = `${head}from refs/heads/main^0\n${files}\ndone\n`
  execFileSync('git', ['-C', repository.path, 'fast-import', '--quiet', '--done'], { input })
  return repository.git('rev-parse', 'main')
}

// Both take some CPU seconds of git's.
const drawn = drawnTests(t, 3)

void drawn(
  'a directory that takes more memory than the first limits is written with a large share',
  async (t) => {
    const repository = await server.createRepository('limits/wide')
    const before = await widenRoot(repository)
    const large = makeLarge()
    const settings = { ...large.settings, memoryMiB: 61 }
    t.match(await write(repository.url, nameOf(7), settings), { outcome: 'pushed' })
    t.equal(large.holders.length, 1)
    t.equal(await repository.git('rev-parse', 'main^'), before)
  },
)

void drawn('one that takes more than that is not supported, and the message says so', async (t) => {
  const repository = await server.createRepository('limits/wider')
  await widenRoot(repository)
  t.match(await write(repository.url, nameOf(7), { ...makeLarge().settings, memoryMiB: 17 }), {
    reason: 'NotSupported',
    message: /lists more refs or objects than Git can hold in the memory/,
  })
})

t.test('files to edit that take more than 64 MiB together are not read', async (t) => {
  const repository = await server.createRepository('limits/too-much', { files: largeFiles(33) })
  const edit = (): Buffer => Buffer.from('edited')
  const files = Array.from({ length: 33 }, (_, i) => ({ path: `${i}.md`, edit }))
  const large = makeLarge()
  t.match(await push(repository.url, large.settings, { files }), {
    reason: 'NotSupported',
    retry: 'slow',
    message: /^The files that are read of \S+ take more than 64 MiB together/,
  })
  t.same(large.holders, [], 'nobody waits for that')
})

t.test('an endless list of refs ends at the limit of a large share, for good', async (t) => {
  const repository = await server.createRepository('limits/endless')
  t.teardown(
    server.faults.add({ kind: 'endless' }, { repository: 'limits/endless', exchange: 'upload-pack-refs' }),
  )
  const large = makeLarge()
  const failure = await push(repository.url, { ...large.settings, memoryMiB: 24 })
  t.match(failure, { reason: 'NotSupported', message: /lists more refs or objects than Git can hold/ })
  t.equal(large.holders.length, 1)
})

t.test('where no large share is free for half of the time, the attempt ends and says so', async (t) => {
  const repository = await server.createRepository('limits/busy')
  t.teardown(server.faults.add({ kind: 'endless' }, { repository: 'limits/busy', command: 'fetch' }))
  const settings: Partial<GitSettings> = {
    deadlineSeconds: 6,
    acquireLarge: (_holder, signal) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => reject(new Error('Given up'))),
      ),
  }
  t.match(await push(repository.url, settings), {
    reason: 'Conflict',
    message: /has more refs or files than most.*Commitlet retries automatically/,
  })
})

t.test('where the pod has no memory left, the attempt ends and says so', async (t) => {
  const repository = await server.createRepository('limits/no-memory')
  t.teardown(server.faults.add({ kind: 'hang' }, { repository: 'limits/no-memory', command: 'fetch' }))
  const failure = await push(repository.url, { podMemory: { freeMiB: () => 63, leastMiB: 64 } })
  t.match(failure, {
    reason: 'Conflict',
    message: /^Commitlet has no memory left at the moment for a session with /,
  })
})
