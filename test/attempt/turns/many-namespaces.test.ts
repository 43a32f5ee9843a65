import t from 'tap'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import { divide } from '../../../functions/attempt/turns/shares.ts'
import { openTurns } from '../../../functions/attempt/turns/turns.ts'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'

const POD = { memoryMiB: 2048, diskMiB: 1024, diskIsMemory: true }
const NEVER = new AbortController().signal
/** More than one namespace gets of anything. */
const MANY = 40
/** The namespaces of one tenant. */
const TENANT = Array.from({ length: 10 }, (_, i) => `tenant-${i}`)
const MIB = 1024 * 1024

function open() {
  const turns = openTurns(divide(POD, 256))
  /** Begins so many sessions with this host, which never end; returns how many have begun. */
  async function hang(namespace: string, host: string, count: number): Promise<number> {
    let begun = 0
    const address = parseRepositoryAddress(`https://${host}/acme/shop.git`)
    for (let i = 0; i < count; i += 1) {
      const holder = { namespace, address, name: `${namespace} ${host} ${i}` }
      void turns.acquireSession(holder, NEVER).then(() => (begun += 1))
    }
    await new Promise(setImmediate)
    return begun
  }
  return { turns, hang }
}

t.test('ten namespaces whose hosts never answer leave sessions to the next ones', async (t) => {
  const { hang } = open()
  const held: number[] = []
  for (const namespace of TENANT) held.push(await hang(namespace, `${namespace}.example.com`, MANY))
  t.equal(held[0], 8, 'one alone has as many as ever')
  for (const namespace of ['a', 'b', 'c']) {
    t.ok((await hang(namespace, 'git.example.com', 1)) === 1, `${namespace} has one after ${held.join(', ')}`)
  }
})

t.test('ten namespaces leave some of the sessions with one host to the next ones', async (t) => {
  const { hang } = open()
  for (const namespace of TENANT) await hang(namespace, 'git.example.com', MANY)
  for (const namespace of ['a', 'b', 'c']) t.equal(await hang(namespace, 'git.example.com', 1), 1)
})

t.test('ten namespaces leave some of the memory that large sessions leave', async (t) => {
  const { turns, hang } = open()
  for (const namespace of ['x', 'y', 'z'])
    await turns.acquireLarge({ namespace, host: `${namespace}.example.com`, resource: namespace }, NEVER)
  for (const namespace of TENANT) await hang(namespace, `${namespace}.example.com`, MANY)
  for (const namespace of ['a', 'b', 'c']) t.equal(await hang(namespace, 'git.example.com', 1), 1)
  let begun = false
  const next = { namespace: 'next', host: 'other.example.com', resource: 'next/shop' }
  void turns.takeTurn('GitCommit', next).then(() => (begun = true))
  await new Promise(setImmediate)
  t.ok(begun)
})

t.test('changes of ten namespaces that wait for their push leave memory to the next one', async (t) => {
  const { turns } = open()
  for (const namespace of TENANT) {
    for (let i = 0; i < MANY; i += 1) {
      const holder = { namespace, host: `${namespace}.example.com`, resource: `${namespace}/${i}` }
      void turns.takeTurn('GitCommit', holder).then((turn) => turn?.park(3 * MIB))
      await new Promise(setImmediate)
    }
  }
  let begun = false
  const next = { namespace: 'next', host: 'other.example.com', resource: 'next/shop' }
  void turns.takeTurn('GitCommit', next).then(() => (begun = true))
  await new Promise(setImmediate)
  t.ok(begun)
})

t.test('changes that are larger than they were thought to be leave memory to the next one', async (t) => {
  const { turns } = open()
  let refused: unknown
  for (const namespace of TENANT) {
    for (let i = 0; i < MANY; i += 1) {
      const holder = { namespace, host: `${namespace}.example.com`, resource: `${namespace}/${i}` }
      void turns.takeTurn('GitCommit', holder).then(async (turn) => {
        await new Promise(setImmediate)
        try {
          turn?.park(10 * MIB)
        } catch (error) {
          refused = error
          turn?.release()
        }
      })
    }
    for (let times = 0; times < 2 * MANY; times += 1) await new Promise(setImmediate)
  }
  t.match(refused, { reason: 'Conflict' })
  t.ok(turns.figures().change.heldBytes > 60 * MIB, 'a few are kept')
  let begun = false
  const next = { namespace: 'next', host: 'other.example.com', resource: 'next/shop' }
  void turns.takeTurn('GitCommit', next).then(() => (begun = true))
  await new Promise(setImmediate)
  t.ok(begun)
})

t.test('a namespace of which a change was large has fewer made at once, and none is refused', async (t) => {
  const { turns } = open()
  const events: string[] = []
  const holder = { namespace: 'a', host: 'git.example.com' }
  const first = await turns.takeTurn('GitCommit', { ...holder, resource: 'first' })
  first?.park(10 * MIB)
  first?.release()
  for (let i = 0; i < 8; i += 1) {
    void turns.takeTurn('GitCommit', { ...holder, resource: `${i}` }).then(async (turn) => {
      events.push('made')
      await new Promise(setImmediate)
      turn?.park(10 * MIB)
    })
  }
  for (let times = 0; times < MANY; times += 1) await new Promise(setImmediate)
  t.strictSame(events, ['made', 'made'])
})

/** Whether six others begin small changes while the tenant has as many large ones as it may. */
async function smallOnesBegin(hostOf: (namespace: string) => string): Promise<boolean> {
  const { turns } = open()
  for (const namespace of TENANT) {
    for (let i = 0; i < MANY; i += 1) {
      const holder = { namespace, host: hostOf(namespace), resource: `${namespace}/${i}`, objects: 8 }
      void turns.takeTurn('GitCommit', holder)
    }
  }
  let begun = 0
  for (const namespace of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const next = { namespace, host: 'git.example.com', resource: `${namespace}/shop` }
    void turns.takeTurn('GitCommit', next).then(() => (begun += 1))
  }
  await new Promise(setImmediate)
  return begun === 6
}

t.test('changes of many objects in ten namespaces leave memory to small ones', async (t) => {
  t.ok(await smallOnesBegin((namespace) => `${namespace}.example.com`))
})

t.test('changes of many objects in ten namespaces leave memory to small ones at their host', async (t) => {
  t.ok(await smallOnesBegin(() => 'git.example.com'))
})

t.test(
  'changes of many objects that wait for a log-in leave memory to others of several objects',
  async (t) => {
    const { turns } = open()
    for (const namespace of TENANT) {
      for (let i = 0; i < MANY; i += 1) {
        const holder = {
          namespace,
          host: `${namespace}.example.com`,
          resource: `${namespace}/${i}`,
          objects: 8,
        }
        void turns.takeTurn('GitCommit', holder).then((turn) => turn?.made(1_000))
        await new Promise(setImmediate)
      }
    }
    let begun = 0
    for (const namespace of ['a', 'b', 'c', 'd']) {
      const next = { namespace, host: 'git.example.com', resource: `${namespace}/shop`, objects: 2 }
      void turns.takeTurn('GitCommit', next).then(() => (begun += 1))
    }
    await new Promise(setImmediate)
    t.equal(begun, 4)
  },
)

t.test('in a small pod changes of many objects keep no small one waiting for parked ones', async (t) => {
  const { takeTurn } = openTurns(divide({ memoryMiB: 512, diskMiB: 1024, diskIsMemory: false }, 256))
  for (const namespace of TENANT) {
    const holder = { namespace, host: `${namespace}.example.com`, resource: namespace, objects: 8 }
    void takeTurn('GitCommit', holder).then((turn) => turn?.park(MIB))
    await new Promise(setImmediate)
  }
  let begun = false
  const next = { namespace: 'next', host: 'git.example.com', resource: 'next/shop' }
  void takeTurn('GitCommit', next).then(() => (begun = true))
  await new Promise(setImmediate)
  t.ok(begun)
})

t.test('in a small pod a change of many objects begins beside one that waits for its push', async (t) => {
  const { takeTurn } = openTurns(divide({ memoryMiB: 512, diskMiB: 1024, diskIsMemory: false }, 256))
  const parked = await takeTurn('GitCommit', { namespace: 'a', host: 'a.example.com', resource: 'a/shop' })
  parked?.park(MIB)
  const next = { namespace: 'b', host: 'b.example.com', resource: 'b/shop', objects: 8 }
  let begun = false
  void takeTurn('GitCommit', next).then(() => (begun = true))
  await new Promise(setImmediate)
  t.ok(begun)
})

t.test('however many wait for sessions with one host, they give up at once', async (t) => {
  const turns = openTurns(divide(POD, 256))
  const ending = new AbortController()
  const address = parseRepositoryAddress('https://git.example.com/acme/shop.git')
  const sessions = TENANT.flatMap((namespace) =>
    Array.from({ length: 250 }, (_, i) =>
      turns.acquireSession({ namespace, address, name: `${namespace} ${i}` }, ending.signal).catch(() => 0),
    ),
  )
  await new Promise(setImmediate)
  const before = cpuTime()
  ending.abort(new Error('late'))
  await new Promise(setImmediate)
  const took = cpuTime() - before
  t.ok(took < allowedMs(100), `${took.toFixed(0)} ms`)
  const ends = await Promise.all(sessions.slice(-10))
  t.ok(ends.every((end) => end === 0))
})
