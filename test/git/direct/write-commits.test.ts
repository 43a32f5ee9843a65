import t from 'tap'
import { endingSigner } from '../ending-signer.ts'
import { isBusy, openMemory, openObjects, type Take } from '../../../functions/git/direct/memory.ts'
import type { DirectSession } from '../../../functions/git/direct/session.ts'
import { writeCommits } from '../../../functions/git/direct/write-commits.ts'
import { rememberWays } from '../../../functions/git/direct/tree-ways.ts'
import type { NewCommit } from '../../../functions/git/remote.ts'
import { createStore } from '../objects/store.ts'
import { drawnTests } from '../../harness/drawn-test.ts'
import { NO_TIPS } from './no-tips.ts'

const drawn = drawnTests(t, 3)

const MIB = 1024 * 1024

/** A session with an empty repository that nothing is sent to. */
function session(take?: Take): DirectSession {
  const memory = openMemory()
  const share = memory.shareOf('shop')
  return {
    channel: {
      ask: () => Promise.reject(new Error('asked')),
      push: () => Promise.reject(new Error('pushed')),
      tellsUnborn: () => Promise.resolve(false),
      askToPush: () => Promise.reject(new Error('asked to push')),
      close: async () => {},
    },
    context: { url: 'https://h/r', secrets: [], proxied: false, deadlineSeconds: 1, fetchLimitMiB: 1 },
    signal: new AbortController().signal,
    share: { ...share, take: take ?? share.take },
    objects: openObjects(memory, { owner: 'me', namespace: 'shop', take: share.take }),
    tips: NO_TIPS,
    way: rememberWays()('r', 'me', 'shop'),
  }
}

let count = 0
function commitOf(files: Readonly<Record<string, string>>): NewCommit {
  const all = Object.entries(files).map(([path, text]) => ({
    path,
    mode: '100644',
    content: Buffer.from(text),
  }))
  count += 1
  return {
    files: all,
    message: `${count}\n`,
    author: { name: 'Ada', email: 'ada@example.com' },
    date: new Date(count * 1000),
  }
}

/** Names that are long, so that a directory of a few thousand files is large. */
const WIDE = Object.fromEntries(
  Array.from({ length: 4_000 }, (_, i) => [`wide/${'name-'.repeat(20)}${i}`, 'x']),
)

t.test('of many commits in a large directory the pack and the trees of the last one are kept', async (t) => {
  const commits = [
    commitOf(WIDE),
    ...Array.from({ length: 60 }, (_, i) => commitOf({ [`wide/${i}`]: `${i}` })),
  ]
  const { names, pack, latest } = await writeCommits(session(), undefined, commits)
  t.equal(names.length, 61)
  t.same(latest.map(({ kind }) => kind).toSorted(), ['commit', 'tree', 'tree'])
  t.equal(latest[0]?.id, names.at(-1))
  const packed = pack.reduce((sum, { length }) => sum + length, 0)
  t.ok(packed < MIB, `${packed} bytes for trees of ${61 * (latest[2]?.body.length ?? 0)}`)

  const store = createStore(t.testdir())
  store.git(['index-pack', '--stdin', '--strict'], Buffer.concat(pack))
  store.git(['update-ref', 'refs/heads/main', names.at(-1) ?? ''])
  t.same(store.attempt(['fsck', '--strict', '--full']), { ok: true, output: '' })
  t.equal(store.git(['rev-list', '--count', 'main']).toString(), '61\n')
})

drawn('a tree that two directories share is there for the other when one of them changes', async (t) => {
  const both = Object.entries(WIDE).flatMap(([path, text]) => [
    [`one/${path}`, text],
    [`two/${path}`, text],
  ])
  const changes = ['one/wide/a', 'one/wide/b', 'one/wide/c', 'one/wide/d', 'one/wide/e', 'two/wide/a']
  const commits = [commitOf(Object.fromEntries(both)), ...changes.map((path) => commitOf({ [path]: path }))]
  // Back to the content of before: the trees of that time are in the pack already, and are needed again.
  const again = [...changes, ...changes].map((path, i) => commitOf({ [path]: `${i % 2}` }))
  const { names, pack } = await writeCommits(session(), undefined, [...commits, ...again])
  const store = createStore(t.testdir())
  store.git(['index-pack', '--stdin', '--strict'], Buffer.concat(pack))
  t.equal(store.git(['show', `${names.at(-1)}:two/wide/a`]).toString(), '1')
  t.equal(store.git(['show', `${names.at(-1)}:one/wide/e`]).toString(), '0')
})

drawn('the memory of the pack is taken before it is used, and returned', async (t) => {
  let taken = 0
  const takeUpTo = (most: number) => (bytes: number) => {
    if (taken + bytes > most) throw Object.assign(new Error('too little'), { name: 'Busy' })
    taken += bytes
    return () => void (taken -= bytes)
  }
  const noise = Array.from({ length: 20_000 }, () => Math.random().toString(36)).join('')
  const written = await writeCommits(session(takeUpTo(MIB)), undefined, [commitOf({ a: noise })])
  t.ok(taken > noise.length / 2 && taken < noise.length * 2, `${taken} of ${noise.length}`)
  written.release()
  t.equal(taken, 0)
  const refused: unknown = await writeCommits(session(takeUpTo(100_000)), undefined, [
    commitOf({ a: noise }),
  ]).catch((error: unknown) => error)
  t.ok(isBusy(refused))
  t.equal(taken, 0)
})

t.test('nothing more is signed once the session has to end', async (t) => {
  const { signer, signal, count } = endingSigner()
  const commits = ['1', '2', '3'].map((a) => ({ ...commitOf({ a }), signer }))
  const ending = { ...session(), signal }
  const ended: unknown = await writeCommits(ending, undefined, commits).catch((error: unknown) => error)
  t.match(ended, { reason: 'Timeout' })
  t.equal(count(), 1)
})
