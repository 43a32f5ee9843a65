import t from 'tap'
import { fetchHistory, searchHistory } from '../../../functions/git/direct/history.ts'
import { openMemory, openObjects } from '../../../functions/git/direct/memory.ts'
import type { DirectSession, FetchedObjects } from '../../../functions/git/direct/session.ts'
import { encodeCommit } from '../../../functions/git/objects/commit-object.ts'
import type { GitObject } from '../../../functions/git/objects/object.ts'
import { createPace } from '../../../functions/git/objects/pace.ts'
import { cpuTime } from '../../harness/cpu-time.ts'

const ID = '0f8fad5b-d9cb-469f-a165-70867728950e.1'
const SOUGHT = [{ id: ID, paths: ['a.yaml'] }]
const TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'
/** Far more than the event loop may read in one turn. */
const MANY = 20_000
/** At least 4 KiB of work each, and a turn after each MiB. */
const TURNS = MANY / 256 - 1

function commitOf(message: string): GitObject {
  const author = { name: 'Ada', email: 'ada@example.com' }
  return encodeCommit({ tree: TREE, parents: [], author, date: new Date(0), message })
}

/** A session with a server that sends these objects, whatever is asked. */
function sessionWith(objects: readonly GitObject[]): DirectSession {
  const memory = openMemory()
  const nothing = (): undefined => undefined
  const fetched: FetchedObjects = { objects: new Map(objects.map((one) => [one.id, one])), shallow: [] }
  const ask = async (): Promise<never> => fetched as never
  return {
    channel: { ask, push: () => Promise.reject(new Error('pushed')), close: async () => {} },
    context: { url: 'https://h/r', secrets: [], proxied: false, deadlineSeconds: 1, fetchLimitMiB: 1 },
    signal: new AbortController().signal,
    take: memory.take,
    objects: openObjects(memory, 'me'),
    tips: { get: nothing, latest: nothing, set: nothing, forget: nothing },
  }
}

/** What the work results in, and how many turns the event loop had meanwhile. */
async function countTurns<T>(work: () => Promise<T>): Promise<{ result: T; turns: number }> {
  let [turns, isDone] = [0, false]
  const count = (): void => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  setImmediate(count)
  const result = await work()
  isDone = true
  return { result, turns }
}

t.test('many commits leave turns of the event loop to others, in each step', async (t) => {
  const commits = Array.from({ length: MANY }, (_, i) => commitOf(`${i}\n\nCommitlet-Id: ${i}.1\n`))
  const session = sessionWith(commits)
  const kept = await countTurns(() => session.objects.keep(commits, createPace(session.signal)))
  t.ok(kept.turns >= TURNS, `kept in ${kept.turns} turns`)
  const { result, turns } = await countTurns(() => fetchHistory(session, commits[0]!.id))
  t.ok(turns >= TURNS, `decoded in ${turns} turns`)
  if (result === 'moved') throw new Error('it has moved')
  const searched = await countTurns(() => searchHistory(session, result, SOUGHT))
  t.ok(searched.turns >= TURNS, `searched in ${searched.turns} turns`)
  t.same(searched.result, [undefined])
})

t.test('a message that is longer than any of ours is not searched', async (t) => {
  const lines = `\n${'A: b\n '.repeat(4_000_000)}x`
  const commit = commitOf(`title\n${lines}\nCommitlet-Id: ${ID}\n`)
  const session = sessionWith([commit])
  const history = await fetchHistory(session, commit.id)
  if (history === 'moved') throw new Error('it has moved')
  const before = cpuTime()
  t.same(await searchHistory(session, history, SOUGHT), [undefined])
  const used = cpuTime() - before
  t.ok(used < 200, `${used} ms`)
})
