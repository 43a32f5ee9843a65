import t from 'tap'
import { divide } from '../../../functions/attempt/turns/shares.ts'
import { API_SESSION, preparing, PREPARING } from '../../../functions/attempt/turns/cost.ts'
import { SIDE_BY_SIDE } from '../../../functions/commit/sources/objects.ts'
import { measureTurns, openTurns } from '../../../functions/attempt/turns/turns.ts'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import type { Turn } from '../../../functions/world.ts'
import { outcomeOf } from '../../git/stage.ts'
import { recordingMeter } from '../../harness/recording-meter.ts'

/** Of eight changes that a namespace makes at once. */
const POD = { memoryMiB: 2048, diskMiB: 1024, diskIsMemory: true }
const MIB = 1024 * 1024
const NEVER = new AbortController().signal
/** Of the thread for edits that need little. */
const QUICK_EDIT_MIB = 88
const LARGER_EDIT_MIB = 152

function open() {
  const turns = openTurns(divide(POD, 256))
  async function take(name: string, namespace = 'team', kind: 'GitCommit' | 'PullRequest' = 'GitCommit') {
    const turn = await turns.takeTurn(kind, { namespace, host: 'git.example.com', resource: name })
    if (turn === undefined) throw new Error(`${name} waits already`)
    return turn
  }
  return { turns, take }
}

function takeAll(
  take: (name: string) => Promise<Turn>,
  count: number,
  started: Turn[],
): readonly Promise<unknown>[] {
  return Array.from({ length: count }, (_, i) => take(`commit ${i}`).then((turn) => started.push(turn)))
}

t.test('who waits for a push has given back its turn: hundreds of a namespace wait', async (t) => {
  const { turns, take } = open()
  let parked = 0
  const all = Array.from({ length: 600 }, async (_, i) => {
    const turn = await take(`commit ${i}`).catch(() => undefined)
    if (turn === undefined) return
    parked += 1
    turn.park(2_000)
  })
  await new Promise(setImmediate)
  t.ok(parked > 250 && parked < 600, `${parked} of one namespace wait: its bytes bound them`)
  t.same(turns.inHand(), [], 'nobody is at work')
  const others = await Promise.all(['other', 'another'].map((namespace) => take('commit', namespace)))
  t.equal(others.length, 2)
  turns.close()
  await Promise.all(all)
})

t.test('a turn that is taken again does not read the objects again', async (t) => {
  const { turns } = open()
  const holder = { namespace: 'team', host: 'git.example.com', resource: 'shop', objects: 8 }
  const turn = await turns.takeTurn('GitCommit', holder)
  const heldMiB = (): number => turns.figures().change.heldBytes / MIB
  t.equal(heldMiB(), preparing(8).memoryMiB)
  turn?.made(4 * MIB)
  t.ok(heldMiB() > 4 && heldMiB() < 5, 'it holds its bytes')
  turn?.made(8 * MIB)
  t.ok(heldMiB() < 5, 'it takes no more')
  t.same(turns.inHand(), ['shop'])
  turn?.park(1_000)
  turn?.made(1)
  t.ok(heldMiB() < 1, 'only its bytes are kept')
  await turn?.resume(NEVER)
  t.equal(heldMiB(), PREPARING.memoryMiB)
  turn?.release()
  t.equal(heldMiB(), 0)
})

t.test('what a resource takes in memory counts from its turn on', async (t) => {
  const { turns } = open()
  const heldMiB = (work: 'change' | 'session'): number => turns.figures()[work].heldBytes / MIB
  const holder = { namespace: 'team', host: 'git.example.com', bytes: 1.3 * MIB }
  const turn = await turns.takeTurn('GitCommit', { ...holder, resource: 'commit' })
  t.equal(heldMiB('change'), PREPARING.memoryMiB + 2)
  turn?.park(2 * MIB)
  await turn?.resume(NEVER)
  t.equal(heldMiB('change'), PREPARING.memoryMiB + 2, 'and in the turn after its login')
  await turns.takeTurn('PullRequest', { ...holder, resource: 'pull request' })
  t.equal(heldMiB('session'), API_SESSION.memoryMiB + 2)
})

t.test('few wait for a second turn and keep what they hold, however many wait for a first one', async (t) => {
  const { turns } = open()
  const holder = { namespace: 'team', host: 'git.example.com', bytes: 2.5 * MIB }
  let [waiting, most, done] = [0, 0, 0]
  const all = Array.from({ length: 200 }, async (_, i) => {
    const turn = await turns.takeTurn('GitCommit', { ...holder, resource: `commit ${i}` })
    turn?.park(2.5 * MIB)
    waiting += 1
    most = Math.max(most, waiting)
    await turn?.resume(NEVER)
    waiting -= 1
    done += 1
    turn?.release()
  })
  await Promise.all(all)
  t.equal(done, 200)
  t.ok(most <= 20, `${most} at once`)
})

t.test('a turn that was given back is waited for again, beside an event of the same resource', async (t) => {
  const { take } = open()
  const first = await take('commit a')
  first.park(1)
  const started: Turn[] = []
  const others = takeAll(take, 8, started)
  await Promise.all(others)
  const event = take('commit a')
  let resumed = false
  const resume = first.resume(NEVER).then(() => (resumed = true))
  await new Promise(setImmediate)
  t.notOk(resumed)
  started[0]?.release()
  started[1]?.release()
  await Promise.all([resume, event])
})

t.test('a turn that is released while it is waited for again is held by nobody', async (t) => {
  const { turns, take } = open()
  const first = await take('commit a')
  first.park(1)
  const started: Turn[] = []
  await Promise.all(takeAll(take, 8, started))
  const resume = first.resume(NEVER)
  first.release()
  for (const turn of started) turn.release()
  await resume
  t.same(turns.inHand(), [])
})

t.test('after the close attempts are refused, and what has begun gets its session', async (t) => {
  const { turns, take } = open()
  const first = await take('commit a')
  first.park(1)
  turns.close()
  t.match(await outcomeOf(take('commit b')), { reason: 'Conflict' })
  t.match(await outcomeOf(take('request', 'team', 'PullRequest')), { reason: 'Conflict' })
  const address = parseRepositoryAddress('https://git.example.com/acme/shop.git')
  const release = await turns.acquireSession({ namespace: 'team', address, name: 'session 1' }, NEVER)
  t.same(turns.inHand(), ['session 1'])
  release()
  await first.resume(NEVER)
  first.release()
  t.same(turns.inHand(), [])
})

t.test('pushes and pull requests of a namespace share its eight sessions', async (t) => {
  const { turns, take } = open()
  const address = parseRepositoryAddress('https://git.example.com/acme/shop.git')
  const session = (i: number) =>
    turns.acquireSession({ namespace: 'team', address, name: `session ${i}` }, NEVER)
  const releases = await Promise.all(Array.from({ length: 7 }, (_, i) => session(i)))
  const request = await take('request', 'team', 'PullRequest')
  let isOpen = false
  const ninth = session(9).then(() => (isOpen = true))
  await new Promise(setImmediate)
  t.notOk(isOpen)
  request.release()
  await ninth
  for (const release of releases) release()
})

t.test('the memory of an edit is found while all sessions are taken, and it is measured', async (t) => {
  const { turns } = open()
  const address = parseRepositoryAddress('https://git.example.com/acme/shop.git')
  for (let i = 0; i < 80; i += 1) {
    const namespace = `team-${i % 10}`
    const holder = { namespace, address: { ...address, host: `h${i % 10}` }, name: `session ${i}` }
    turns.acquireSession(holder, AbortSignal.timeout(5_000)).catch(() => undefined)
  }
  const { mostEditMiB, acquireEdit, figures } = turns
  const sizes = [mostEditMiB, LARGER_EDIT_MIB, QUICK_EDIT_MIB]
  const releases: (() => void)[] = []
  for (const size of sizes) releases.push(await acquireEdit(size, { namespace: 'team', signal: NEVER }))
  const heldBytes = sizes.reduce((sum, size) => sum + size, 0) * 1024 * 1024
  t.match(figures().edit, { running: 3, heldBytes }, 'one thread for each line')
  const abort = new AbortController()
  const fourth = acquireEdit(QUICK_EDIT_MIB, { namespace: 'other', signal: abort.signal })
  abort.abort()
  await t.rejects(fourth, { reason: 'Conflict', message: /waiting to start/ })
  for (const release of releases) release()
  t.match(figures().edit, { running: 0, heldBytes: 0 })
})

t.test('what runs and waits is measured: its number, its memory and the age of the oldest', async (t) => {
  const { turns, take } = open()
  const { meter, read } = recordingMeter()
  measureTurns(turns, meter)
  const valueOf = (name: string, work: string) =>
    read(name).find(({ labels }) => labels['work'] === work)?.value ?? NaN
  t.strictSame(
    ['running', 'waiting', 'waiting_oldest_seconds', 'held_bytes'].map((name) => valueOf(name, 'change')),
    [0, 0, 0, 0],
  )
  const started: Turn[] = []
  const all = takeAll(take, 12, started)
  await new Promise(setImmediate)
  t.equal(valueOf('running', 'change'), started.length)
  t.equal(valueOf('waiting', 'change'), 12 - started.length)
  t.ok(valueOf('waiting_oldest_seconds', 'change') > 0)
  t.ok(valueOf('held_bytes', 'change') >= 8 * 1024 * 1024)
  t.equal(valueOf('running', 'session') + valueOf('waiting', 'large session'), 0)
  for (let turn = started.shift(); turn !== undefined; turn = started.shift()) {
    turn.release()
    await new Promise(setImmediate)
  }
  await Promise.all(all)
  t.equal(valueOf('waiting', 'change'), 0)
})

t.test('a change of many objects takes the share of those that it reads at the same time', async (t) => {
  t.same(preparing(), PREPARING)
  t.same(preparing(0), PREPARING)
  t.equal(preparing(3).memoryMiB, 3 * PREPARING.memoryMiB)
  t.equal(preparing(100).memoryMiB, SIDE_BY_SIDE * PREPARING.memoryMiB)
})
