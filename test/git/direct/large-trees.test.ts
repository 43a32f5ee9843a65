import { randomBytes } from 'node:crypto'
import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { openMemory, openObjects, type Take } from '../../../functions/git/direct/memory.ts'
import { readTree } from '../../../functions/git/direct/read-tree.ts'
import type { DirectSession } from '../../../functions/git/direct/session.ts'
import { writeCommits } from '../../../functions/git/direct/write-commits.ts'
import { rememberWays } from '../../../functions/git/direct/tree-ways.ts'
import { encodeCommit } from '../../../functions/git/objects/commit-object.ts'
import { makeObject, type GitObject } from '../../../functions/git/objects/object.ts'
import { createPace } from '../../../functions/git/objects/pace.ts'
import { entriesOf, indexTree } from '../../../functions/git/objects/tree-index.ts'
import { encodeEntry } from '../../../functions/git/objects/tree-object.ts'
import type { NewCommit } from '../../../functions/git/remote.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import { countTurns } from './turns.ts'
import { NO_TIPS } from './no-tips.ts'

const MIB = 1024 * 1024
const AUTHOR = { name: 'Ada', email: 'ada@example.com' }
const BLOB = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'

/** A directory of at least so many bytes. */
function wide(bytes: number): GitObject {
  const entry = (i: number): Buffer =>
    encodeEntry({ mode: '100644', name: `f${String(i).padStart(7, '0')}`, id: BLOB })
  return makeObject(
    'tree',
    Buffer.concat(Array.from({ length: Math.ceil(bytes / entry(0).length) }, (_, i) => entry(i))),
  )
}

/** A repository with so many directories that are one and the same tree, which costs its owner hardly anything. */
async function repositoryOf(directories: number, tree: GitObject) {
  const names = Array.from({ length: directories }, (_, i) => `d${String(i).padStart(3, '0')}`)
  const root = makeObject(
    'tree',
    Buffer.concat(names.map((name) => encodeEntry({ mode: '40000', name, id: tree.id }))),
  )
  const commit = encodeCommit({
    tree: root.id,
    parents: [],
    author: AUTHOR,
    date: new Date(0),
    message: '1\n',
  })
  const memory = openMemory()
  const share = memory.shareOf('shop')
  const session: DirectSession = {
    channel: {
      ask: () => Promise.reject(new Error('asked')),
      push: () => Promise.reject(new Error('pushed')),
      tellsUnborn: () => Promise.resolve(false),
      askToPush: () => Promise.reject(new Error('asked')),
      close: async () => {},
    },
    context: { url: 'https://h/r', secrets: [], proxied: false, deadlineSeconds: 1, fetchLimitMiB: 1 },
    signal: new AbortController().signal,
    share,
    objects: openObjects(memory, { owner: 'me', namespace: 'shop', take: share.take }),
    tips: NO_TIPS,
    way: rememberWays()('r', 'me', 'shop'),
  }
  await session.objects.keep([tree, root, commit], createPace(session.signal))
  return { session, commit: commit.id, names, memory }
}

/** A commit of a new file in each of these directories. */
function commitIn(directories: readonly string[], name: string): NewCommit {
  const files = directories.map((directory) => {
    return {
      path: `${directory}/${name}`,
      mode: '100644' as const,
      content: Buffer.from(`${directory} ${name}`),
    }
  })
  return { files, message: `${name}\n`, author: AUTHOR, date: new Date(0) }
}

/** An error that is no verdict, so that the git binary goes on. */
async function isForBinary(work: Promise<unknown>): Promise<boolean> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof Error && !(error instanceof Failure) && !('code' in error)
}

t.test('a directory of more than 2 MiB is for the git binary', async (t) => {
  for (const [bytes, isLarge] of [
    [2 * MIB - 100, false],
    [2 * MIB + 100, true],
  ] as const) {
    const { session, commit } = await repositoryOf(1, wide(bytes))
    t.equal(
      await isForBinary(readTree(session, { commit }, { paths: ['d000/new'] })),
      isLarge,
      `${bytes} bytes`,
    )
  }
})

t.test('directories that are one and the same tree are read as one', async (t) => {
  const tree = wide(2 * MIB - 100)
  async function costOf(directories: number): Promise<number> {
    const { session, commit, names } = await repositoryOf(directories, tree)
    const before = cpuTime()
    const found = await readTree(session, { commit }, { paths: names.map((name) => `${name}/f0000001`) })
    t.equal(found.size, 1 + 2 * directories)
    return cpuTime() - before
  }
  await costOf(1)
  const one = await costOf(1)
  const many = await costOf(90)
  t.ok(many < 20 * Math.max(one, 4), `${many} ms, and ${one} ms for one`)
})

t.test(
  'a hundred files beside one whose name fills the directory cost as little as beside any other',
  async (t) => {
    const long = makeObject(
      'tree',
      encodeEntry({ mode: '100644', name: 'm'.repeat(2 * MIB - 100), id: BLOB }),
    )
    const { session, commit } = await repositoryOf(1, long)
    const added = commitIn(
      Array.from({ length: 100 }, () => 'd000'),
      'f',
    )
    const files = added.files.map((file, i) => ({ ...file, path: `${file.path}${i}` }))
    const before = cpuTime()
    await readTree(session, { commit }, { paths: files.map(({ path }) => path) })
    await writeCommits(session, commit, [{ ...added, files }])
    const cpu = cpuTime() - before
    t.ok(cpu < allowedMs(50), `${cpu} ms`)
  },
)

t.test('many paths of one directory leave turns of the event loop to others', async (t) => {
  const { session, commit } = await repositoryOf(1, wide(MIB))
  const paths = Array.from({ length: 20_000 }, (_, i) => `d000/${i}`)
  const { turns } = await countTurns(() => readTree(session, { commit }, { paths }))
  t.ok(turns >= 70, `${turns} turns`)
})

t.test(
  'a commit in many large directories takes its memory from the budget, and leaves turns of the event loop to others',
  async (t) => {
    const { session, commit, names } = await repositoryOf(30, wide(MIB / 2))
    let taken = 0
    const take: Take = (bytes) => {
      taken += bytes
      return () => undefined
    }
    const { turns } = await countTurns(() =>
      writeCommits({ ...session, share: { ...session.share, take } }, commit, [commitIn(names, 'new')]),
    )
    t.ok(turns >= 30, `${turns} turns`)
    t.ok(taken > 12 * MIB, `${taken} bytes of the memory that all sessions share`)
  },
)

t.test('files that were read stay in the commit, although the memory forgets their trees', async (t) => {
  const { session, commit, names, memory } = await repositoryOf(3, wide(1_000))
  const objects = openObjects(memory, { owner: 'me', namespace: 'shop', take: session.share.take })
  const later = { ...session, objects }
  await readTree(later, { commit }, { paths: ['d000/new'] })
  memory.of('you', 'shop').keep(Array.from({ length: 30 }, () => makeObject('tree', randomBytes(MIB))))
  t.equal(memory.of('me', 'shop').get(commit), undefined, 'forgotten')
  const { latest } = await writeCommits(later, commit, [commitIn(names.slice(0, 1), 'new')])
  const entries = latest.flatMap(({ kind, body }) =>
    kind === 'tree' ? [[...entriesOf(indexTree(body))].length] : [],
  )
  t.ok(entries.includes(names.length), entries.join())
})

t.test('a commit whose trees have more than 32 MiB is for the git binary', async (t) => {
  const { session, commit, names } = await repositoryOf(70, wide(MIB / 2))
  t.ok(await isForBinary(writeCommits(session, commit, [commitIn(names, 'new')])))
})

t.test('so are commits that have as much together', async (t) => {
  const { session, commit, names } = await repositoryOf(70, wide(MIB / 2))
  const halves = [commitIn(names.slice(0, 35), 'one'), commitIn(names.slice(35), 'two')]
  t.ok(await isForBinary(writeCommits(session, commit, halves)))
  const same = [commitIn(names.slice(0, 35), 'one'), commitIn(names.slice(0, 35), 'two')]
  t.equal((await writeCommits(session, commit, same)).names.length, 2, 'what is replaced does not count')
})
