import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { fetchHistory, searchHistory } from '../../../functions/git/direct/history.ts'
import { openMemory, openObjects } from '../../../functions/git/direct/memory.ts'
import type { DirectSession, FetchedObjects } from '../../../functions/git/direct/session.ts'
import { rememberWays } from '../../../functions/git/direct/tree-ways.ts'
import { encodeCommit, type CommitParts } from '../../../functions/git/objects/commit-object.ts'
import { makeObject, type GitObject } from '../../../functions/git/objects/object.ts'
import { createPace } from '../../../functions/git/objects/pace.ts'
import { encodeEntry } from '../../../functions/git/objects/tree-object.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import { countTurns } from './turns.ts'
import { NO_TIPS } from './no-tips.ts'

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e.1'
const SOUGHT = [{ id: ID, paths: ['a.yaml'] }]
const TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
/** Far more than the event loop may read in one turn. */
const MANY = 20_000
/** At least 4 KiB of work each, and a turn after each MiB. */
const TURNS = MANY / 256 - 1

function commitOf(message: string, { tree = TREE, parents = [] }: Partial<CommitParts> = {}): GitObject {
  const author = { name: 'Ada', email: 'ada@example.com' }
  return encodeCommit({ tree, parents, author, date: new Date(0), message })
}

/** A directory of so many files. */
function treeOf(files: number): GitObject {
  const names = Array.from({ length: files }, (_, i) => `f${String(i).padStart(6, '0')}`)
  const entries = names.map((name) => encodeEntry({ mode: '100644', name, id: TREE }))
  return makeObject('tree', Buffer.concat(entries))
}

/** A session with a server that sends these objects, whatever is asked, and says that it has cut the history at these. */
function sessionWith(objects: readonly GitObject[], shallow: readonly string[] = []): DirectSession {
  const memory = openMemory()
  const share = memory.shareOf('shop')
  const fetched: FetchedObjects = { objects: new Map(objects.map((one) => [one.id, one])), shallow }
  const ask = async (): Promise<never> => fetched as never
  return {
    channel: {
      ask,
      push: () => Promise.reject(new Error('pushed')),
      tellsUnborn: () => Promise.resolve(false),
      askToPush: () => Promise.reject(new Error('asked to push')),
      close: async () => {},
    },
    context: { url: 'https://h/r', secrets: [], proxied: false, deadlineSeconds: 1, fetchLimitMiB: 1 },
    signal: new AbortController().signal,
    share,
    objects: openObjects(memory, { owner: 'me', namespace: 'shop', take: share.take }),
    tips: NO_TIPS,
    way: rememberWays()('r', 'me', 'shop'),
  }
}

t.test('many commits leave turns of the event loop to others, in each step', async (t) => {
  const commits = Array.from({ length: MANY }, (_, i) => commitOf(`${i}\n\nCommitlet-Id: ${i}.1\n`))
  const session = sessionWith(commits)
  const kept = await countTurns(() => session.objects.keep(commits, createPace(session.signal)))
  t.ok(kept.turns >= TURNS, `kept in ${kept.turns} turns`)
  const { result, turns } = await countTurns(() => fetchHistory(session, commits[0]!.id))
  t.ok(turns >= TURNS, `decoded in ${turns} turns`)
  if (result === 'moved') throw new Error('it has moved')
  t.same(await searchHistory(session, result, SOUGHT), [undefined])
})

t.test('a server that cuts the history again and again is asked once for what is beyond', async (t) => {
  const [one, two] = ['1', '2'].map((digit) => digit.repeat(40))
  const commit = commitOf('a', { parents: [one ?? '', two ?? ''] })
  const other = 'f'.repeat(40)
  const session = sessionWith([commit], [other, ...Array<string>(60_000).fill(commit.id), other])
  const asked: string[] = []
  const ask: DirectSession['channel']['ask'] = async (question, read) => {
    asked.push(question.command.toString())
    return session.channel.ask(question, read)
  }
  const observed = { ...session, channel: { ...session.channel, ask } }
  const history = await fetchHistory(observed, commit.id)
  if (history === 'moved') throw new Error('it has moved')
  t.same(await searchHistory(observed, history, SOUGHT), [undefined])
  t.same(
    asked.map((command) => command.match(/want \w+/g)),
    [[`want ${commit.id}`], [`want ${one}`, `want ${two}`]],
  )
})

t.test('of a history the messages are not kept', async (t) => {
  const commits = Array.from({ length: 30 }, (_, i) => commitOf(`${i}${'\u{1f600}'.repeat(2 ** 18)}`))
  const session = sessionWith(commits)
  const history = await fetchHistory(session, commits[0]!.id)
  if (history === 'moved') throw new Error('it has moved')
  t.ok(JSON.stringify([...history.commits]).length < 10_000)
})

t.test('a message that is longer than any of ours is not searched', async (t) => {
  const lines = `\n${'A: b\n '.repeat(4_000_000)}x`
  const commit = commitOf(`title\n${lines}\nCommitlet-Id: ${ID}\n`)
  const session = sessionWith([commit])
  const before = cpuTime()
  const history = await fetchHistory(session, commit.id)
  if (history === 'moved') throw new Error('it has moved')
  t.same(await searchHistory(session, history, SOUGHT), [undefined])
  const used = cpuTime() - before
  t.ok(used < allowedMs(20), `${used} ms`)
})

t.test(
  'commits that claim the id leave turns of the event loop to others, and only some are compared',
  async (t) => {
    const tree = treeOf(2_000)
    const parents = Array.from({ length: 150 }, (_, i) => commitOf(`${i}`, { tree: tree.id }))
    const claim = (i: number): GitObject =>
      commitOf(`${i}\n\nCommitlet-Id: ${ID}\n`, { tree: tree.id, parents: parents.map(({ id }) => id) })
    for (const [claims, turns] of [
      [1, 30],
      [2, undefined],
    ] as const) {
      const objects = [tree, ...parents, ...Array.from({ length: claims }, (_, i) => claim(i))]
      const session = sessionWith(objects)
      await session.objects.keep(objects, createPace(session.signal))
      const history = await fetchHistory(session, tree.id)
      if (history === 'moved') throw new Error('it has moved')
      if (turns === undefined) {
        const refused = await searchHistory(session, history, SOUGHT).catch((error: unknown) => error)
        t.ok(refused instanceof Error && !(refused instanceof Failure), 'more are for the git binary')
        continue
      }
      const searched = await countTurns(() => searchHistory(session, history, SOUGHT))
      t.same(searched.result, [undefined])
      t.ok(searched.turns >= turns, `searched in ${searched.turns} turns`)
    }
  },
)

t.test(
  'a commit is that of the request alone whose seal it has, and not one that has copied its trailers',
  async (t) => {
    const [seal, other] = ['1', '2'].map((digit) => digit.repeat(16))
    const message = `\n\nCommitlet-Id: ${ID}\nCommitlet-Seal: ${seal}\n`
    const nothing = makeObject('tree', Buffer.alloc(0))
    const [first, second] = [TREE, 'f'.repeat(40)].map((id) =>
      makeObject('tree', encodeEntry({ mode: '100644', name: 'a.yaml', id })),
    )
    if (first === undefined || second === undefined) throw new Error('two were made')
    const base = commitOf('base')
    const own = commitOf(`own${message}`, { tree: first.id, parents: [base.id] })
    const copy = commitOf(`copy${message}`, { tree: second.id, parents: [own.id] })
    const objects = [copy, own, base, nothing, first, second]
    const session = sessionWith(objects)
    await session.objects.keep(objects, createPace(session.signal))
    const history = await fetchHistory(session, copy.id)
    if (history === 'moved') throw new Error('it has moved')
    const sought = [seal, other].map((one) => ({ id: ID, seals: [one ?? ''], paths: ['a.yaml'] }))
    t.same(await searchHistory(session, history, sought), [own.id, undefined])
  },
)
