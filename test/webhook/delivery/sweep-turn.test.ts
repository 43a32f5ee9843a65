import t from 'tap'
import type { Test } from 'tap'
import type { LeaseStore, LeaseTerms, StoredLease } from '../../../functions/cluster/sweep/lease.ts'
import { leaseAt } from '../../../functions/cluster/sweep/lease.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import type { FailureReason } from '../../../functions/domain/reasons.ts'
import type { TurnTimes } from '../../../webhook/delivery/sweep-turn.ts'
import { takeTurns } from '../../../webhook/delivery/sweep-turn.ts'
import { openAs } from '../../cluster/stage.ts'
import { withControlPlane } from '../../harness/control-plane.ts'
import { waitFor } from '../../harness/wait.ts'
import { recordingLog } from '../stage.ts'

const TIMES: TurnTimes = { durationMs: 600, lookMs: 50 }
const DEADLINE = 20_000

/** A Lease in memory, with the compare-and-swap of a real one; `fault` fails each call of that kind. */
function memoryLease() {
  let stored: StoredLease | undefined
  let reads = 0
  const fault: { read?: () => void; write?: () => 'conflict' } = {}
  const store: LeaseStore = {
    async read() {
      reads += 1
      fault.read?.()
      return stored
    },
    async write(terms: LeaseTerms, over) {
      const isConflict = fault.write?.() === 'conflict'
      if (isConflict || over?.object !== stored?.object) return undefined
      stored = { ...terms, object: { version: Symbol('version') } }
      return stored
    },
  }
  const looked = (times: number) => {
    const until = reads + times
    return waitFor(`${times} looks`, () => reads >= until || undefined, DEADLINE)
  }
  return { store, fault, looked, holder: () => stored?.holder, transitions: () => stored?.transitions }
}

/** A replica; `crash` ends it as kill -9 does: it neither renews the Lease nor gives it back. */
function replica(t: Test, lease: LeaseStore, identity: string, times = TIMES) {
  const { log, lines } = recordingLog()
  const crashed = { is: false }
  const guarded: LeaseStore = {
    read: async () => (crashed.is ? fail('NetworkError') : lease.read()),
    write: async (...of) => (crashed.is ? fail('NetworkError') : lease.write(...of)),
  }
  const elapsed = () => performance.now()
  const turn = takeTurns({ lease: guarded, identity, log, elapsed, now: () => new Date() }, times)
  let signal: AbortSignal | undefined
  void (async () => {
    for (signal = await turn.begun(); signal !== undefined; signal = await turn.begun())
      if (!signal.aborted) await new Promise((resolve) => signal?.addEventListener('abort', resolve))
  })()
  t.teardown(() => turn.stop())
  const isSweeping = () => signal !== undefined && !signal.aborted
  const sweeps = () => waitFor(`turn of ${identity}`, () => isSweeping() || undefined, DEADLINE)
  const rests = () => waitFor(`end of its turn`, () => !isSweeping() || undefined, DEADLINE)
  return { turn, sweeps, rests, isSweeping, lines, crash: () => (crashed.is = true) }
}

t.test('of two replicas one sweeps; after a crash the other one, when the Lease has expired', async (t) => {
  const lease = memoryLease()
  const one = replica(t, lease.store, 'one')
  await one.sweeps()
  const two = replica(t, lease.store, 'two')
  await lease.looked((2 * TIMES.durationMs) / TIMES.lookMs)
  t.same([one.isSweeping(), two.isSweeping()], [true, false], 'for twice its duration')
  t.equal(lease.holder(), 'one')
  const crashedAt = performance.now()
  one.crash()
  await two.sweeps()
  const took = performance.now() - crashedAt
  t.ok(took >= TIMES.durationMs - 2 * TIMES.lookMs, `not before it may have expired: ${took} ms`)
  t.ok(took < 10 * (TIMES.durationMs + TIMES.lookMs), `${took} ms`)
  t.same([lease.holder(), lease.transitions()], ['two', 1])
})

t.test('a replica that stops gives the Lease back, and the other one has it at its next look', async (t) => {
  const lease = memoryLease()
  const times = { durationMs: 3_600_000, lookMs: 50 }
  const one = replica(t, lease.store, 'one', times)
  await one.sweeps()
  const two = replica(t, lease.store, 'two', times)
  await one.turn.stop()
  t.equal(one.isSweeping(), false)
  await two.sweeps()
  t.equal(lease.holder(), 'two')
})

t.test('a replica that does not have the Lease does not give back that of another', async (t) => {
  const lease = memoryLease()
  const one = replica(t, lease.store, 'one')
  await one.sweeps()
  const two = replica(t, lease.store, 'two')
  await two.turn.stop()
  t.equal(lease.holder(), 'one')
  t.equal(await two.turn.begun(), undefined)
})

t.test(
  'without the right to the Lease it sweeps, with one warning; with the right, as the Lease says',
  async (t) => {
    const lease = memoryLease()
    const held = replica(t, lease.store, 'one')
    await held.sweeps()
    lease.fault.read = () => fail('ReferenceForbidden')
    const two = replica(t, lease.store, 'two')
    await two.sweeps()
    await lease.looked(6)
    t.equal(two.lines.filter(({ level }) => level === 40).length, 1)
    delete lease.fault.read
    await waitFor('one that sweeps', () => held.isSweeping() !== two.isSweeping() || undefined, DEADLINE)
  },
)

t.test('while another holder cannot be seen, a replica sweeps, and a holder goes on', async (t) => {
  for (const [title, fault] of [
    ['500', { read: () => fail('ProviderUnavailable'), write: () => fail('ProviderUnavailable') }],
    ['a conflict at each write', { write: () => 'conflict' as const }],
    ['no answer', { write: () => fail('Timeout') }],
  ] as const) {
    const lease = memoryLease()
    Object.assign(lease.fault, fault)
    const one = replica(t, lease.store, 'one', { durationMs: 100, lookMs: 20 })
    await one.sweeps()
    t.equal(lease.holder(), undefined, title)
    delete lease.fault.read
    delete lease.fault.write
    await waitFor('holder', () => lease.holder(), DEADLINE)
    await one.sweeps()
    Object.assign(lease.fault, fault)
    // Between the end of what it holds and the time in which another one could have shown itself.
    await one.rests()
    await one.sweeps()
  }
})

function fail(reason: FailureReason): never {
  throw new Failure(reason, 'The API server did not answer.')
}

withControlPlane(t, async (t, plane) => {
  t.test(
    'a Lease of a real API server changes its holder after a crash, and at the end of one',
    async (t) => {
      const namespace = await plane.createNamespace()
      const lease = leaseAt(openAs(plane.kubeconfig), { namespace, name: 'sweeps' })
      const times = { durationMs: 1_000, lookMs: 200 }
      const [one, two] = [replica(t, lease, 'one', times), replica(t, lease, 'two', times)]
      await waitFor('one that sweeps', () => one.isSweeping() !== two.isSweeping() || undefined, DEADLINE)
      const [first, second] = one.isSweeping() ? [one, two] : [two, one]
      first.crash()
      await second.sweeps()
      const third = replica(t, lease, 'three', { durationMs: 3_600_000, lookMs: 200 })
      await second.turn.stop()
      await third.sweeps()
      t.match(await lease.read(), { holder: 'three', durationSeconds: 3_600, transitions: 2 })
    },
  )
})
