import { mock } from 'node:test'
import t from 'tap'
import { claim, type Claim } from '../../functions/attempt/claim.ts'
import { openClaimKeeper } from '../../functions/attempt/claim-keeper.ts'
import { accountRefused } from '../../functions/cluster/calls/answer.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import type { Status } from '../../functions/domain/resource/stored-status.ts'
import { parse } from '../../functions/domain/schema/parse.ts'
import type { KeptClaim } from '../../functions/world.ts'
import { outcomeOf } from '../git/stage.ts'
import { gitCommit, memoryWorld, type MemoryWorld } from '../harness/memory-world.ts'

const START = Date.parse('2026-03-01T10:00:00Z')

/** A world whose clocks go on only where a test says so, and a keeper in it. */
function stage() {
  mock.timers.enable({ apis: ['setInterval'] })
  const time = { passed: 0 }
  const writes: number[] = []
  const before = { write: (): void => undefined }
  const memory = memoryWorld()
  const cluster: MemoryWorld['cluster'] = {
    ...memory.cluster,
    patchStatus(resource, status) {
      writes.push(time.passed)
      before.write()
      return memory.cluster.patchStatus(resource, status)
    },
  }
  const clocks = { now: () => new Date(START + time.passed), elapsed: () => time.passed }
  const world = { ...memory, ...clocks, cluster }
  const keepClaim = openClaimKeeper({ cluster, ...clocks })
  /** Lets seconds pass one by one, and what follows from each. */
  async function pass(seconds: number): Promise<void> {
    for (let i = 0; i < seconds; i += 1) {
      time.passed += 1_000
      mock.timers.tick(1_000)
      await new Promise(setImmediate)
    }
  }
  return { world, keepClaim, pass, writes, before, time }
}

t.afterEach(() => mock.timers.reset())

async function claimed(world: MemoryWorld, name = 'shop', namespace = 'team'): Promise<Claim> {
  const { metadata, ...rest } = gitCommit()
  const whole = world.cluster.apply({ ...rest, metadata: { ...metadata, name, namespace } })
  const held = await claim({ envelope: envelopeOf(whole), parsed: parse(whole) }, world)
  if (held === undefined || 'newer' in held) throw new Error('Nobody else was at work')
  return held
}

function statusOf(world: MemoryWorld, name = 'shop'): Status | undefined {
  return world.cluster.get('GitCommit', 'team', name)?.status as Status | undefined
}

function afterItsEnd(world: MemoryWorld): MemoryWorld {
  return { ...world, now: () => new Date(world.now().getTime() + 31_000) }
}

t.test('a claim is renewed every 10 s while its attempt lives, and not afterwards', async (t) => {
  const { world, keepClaim, pass, writes } = stage()
  const held = await claimed(world)
  const kept = keepClaim(held.envelope, held.sentAt)
  await pass(9)
  t.same(writes, [0])
  await pass(26)
  t.same(writes, [0, 10_000, 20_000, 30_000])
  t.match(statusOf(world), { ...held.envelope.status, nextAttemptTime: '2026-03-01T10:01:00Z' })
  const latest = await kept.end()
  await pass(60)
  t.equal(writes.length, 4)
  t.equal(
    latest.metadata.resourceVersion,
    envelopeOf(world.cluster.get('GitCommit', 'team', 'shop')).metadata.resourceVersion,
  )
})

t.test(
  'a claim that was written less than 20 s ago is confirmed without a call, an older one by a write',
  async (t) => {
    const { world, keepClaim, writes, time } = stage()
    const held = await claimed(world)
    const kept = keepClaim(held.envelope, held.sentAt)
    time.passed = 19_999
    await kept.confirm()
    t.equal(writes.length, 1)
    t.equal(kept.remaining(), 5_001)
    time.passed = 20_000
    await kept.confirm()
    t.same(writes, [0, 20_000])
    t.equal(kept.remaining(), 25_000)
    time.passed = 45_001
    t.ok(kept.remaining() < 0)
    await kept.end()
  },
)

t.test('a claim whose end came from an old time is written again before a push', async (t) => {
  const { world, keepClaim, writes, time } = stage()
  const late = { ...world, now: () => new Date(START - 14_000) }
  const held = await claimed(late)
  const kept = keepClaim(held.envelope, held.sentAt)
  time.passed = 5_000
  await kept.confirm()
  t.equal(kept.remaining(), 6_000, 'it ends five seconds before others may take over')
  time.passed = 6_000
  await kept.confirm()
  t.same(writes, [0, 6_000])
  t.equal(kept.remaining(), 25_000)
  await kept.end()
})

t.test('once its attempt has ended, nothing may be sent any more', async (t) => {
  const { world, keepClaim } = stage()
  const held = await claimed(world)
  const kept = keepClaim(held.envelope, held.sentAt)
  t.ok(kept.remaining() > 0)
  const ended = kept.end()
  t.equal(kept.remaining(), 0)
  await ended
})

t.test('after a lost race a claim is confirmed by a write that is sent after it', async (t) => {
  const { world, keepClaim, writes, time } = stage()
  const held = await claimed(world)
  const kept = keepClaim(held.envelope, held.sentAt)
  time.passed = 5
  await kept.confirm(true)
  t.same(writes, [0, 5])
  // One that is under way was sent too early.
  const early = kept.confirm(true)
  while (writes.length < 3) await Promise.resolve()
  time.passed = 6
  await Promise.all([early, kept.confirm(true)])
  t.same(writes, [0, 5, 5, 6])
  await kept.end()
})

t.test(
  'a claim that lapsed and was taken over is lost: its attempt ends, and nothing is confirmed',
  async (t) => {
    const { world, keepClaim, pass } = stage()
    const held = await claimed(world)
    const kept = keepClaim(held.envelope, held.sentAt)
    const other = await claim(
      { envelope: envelopeOf(world.cluster.get('GitCommit', 'team', 'shop')), parsed: held.parsed },
      afterItsEnd(world),
    )
    t.match(other, { again: true })
    const seen = statusOf(world)
    await pass(10)
    t.match(kept.lost.reason, { reason: 'Conflict' })
    t.match(await outcomeOf(kept.confirm()), { reason: 'Conflict', message: /has taken over/ })
    t.equal(kept.remaining(), 0)
    t.same(statusOf(world), seen, 'nothing was written')
    await kept.end()
  },
)

t.test('a resource that was deleted has no claim any more', async (t) => {
  const { world, keepClaim } = stage()
  const held = await claimed(world)
  const kept = keepClaim(held.envelope, held.sentAt)
  world.cluster.remove('GitCommit', 'team', 'shop')
  t.match(await outcomeOf(kept.confirm(true)), { reason: 'Conflict' })
  t.ok(kept.lost.aborted)
  await kept.end()
})

for (const [title, change] of [
  ['it is there', undefined],
  ['it is gone', () => Promise.resolve()],
  ['another one has its name', claimed],
] as const) {
  t.test(`${title}: two seconds after its claim was written, a resource is looked for`, async (t) => {
    const { world, keepClaim, time, writes } = stage()
    const held = await claimed(world)
    const kept = keepClaim(held.envelope, held.sentAt)
    if (change !== undefined) {
      world.cluster.remove('GitCommit', 'team', 'shop')
      await change(world)
    }
    writes.length = 0
    time.passed = 1_999
    await kept.stillThere()
    time.passed = 2_000
    const outcome = await outcomeOf(kept.stillThere())
    t.match(outcome, change === undefined ? undefined : { reason: 'Conflict' })
    t.equal(kept.lost.aborted, change !== undefined)
    t.same(writes, [])
    await kept.end()
  })
}

t.test(
  'a resource that is made again under its name keeps the attempt at the deleted one from its next push',
  async (t) => {
    const { world, keepClaim, writes } = stage()
    const first = await claimed(world)
    const neighbour = await claimed(world, 'other')
    const old = keepClaim(first.envelope, first.sentAt)
    const other = keepClaim(neighbour.envelope, neighbour.sentAt)
    await old.confirm()
    t.equal(old.replaces, false)
    world.cluster.remove('GitCommit', 'team', 'shop')
    const again = await claimed(world)
    writes.length = 0
    const kept = keepClaim(again.envelope, again.sentAt)
    t.ok(kept.replaces, 'a push of the old one may be under way')
    t.match(await outcomeOf(old.confirm()), {
      reason: 'Conflict',
      message: /was deleted/,
    })
    t.equal(old.remaining(), 0)
    t.notOk(old.lost.aborted, 'what is sent already goes on')
    await Promise.all([kept.confirm(), other.confirm()])
    t.same(writes, [], 'no call is needed')
    await Promise.all([old, other, kept].map((one) => one.end()))
    t.notOk(keepClaim(again.envelope, again.sentAt).replaces, 'once that has ended it knows what was pushed')
  },
)

t.test(
  'an answer to the claim of a deleted resource that comes late does not end the next one',
  async (t) => {
    const { world, keepClaim, time } = stage()
    const first = await claimed(world)
    world.cluster.remove('GitCommit', 'team', 'shop')
    time.passed = 5
    const again = await claimed(world)
    const kept = keepClaim(again.envelope, again.sentAt)
    const old = keepClaim(first.envelope, first.sentAt)
    t.match(await outcomeOf(old.confirm()), { reason: 'Conflict' })
    await kept.confirm()
    t.ok(kept.remaining() > 0)
    await Promise.all([old.end(), kept.end()])
  },
)

t.test('a newer spec does not end the claim: the attempt that holds it takes that up', async (t) => {
  const { world, keepClaim } = stage()
  const held = await claimed(world)
  const kept = keepClaim(held.envelope, held.sentAt)
  world.cluster.apply(gitCommit({ message: 'Second' }))
  await kept.confirm(true)
  t.notOk(kept.lost.aborted)
  t.match(statusOf(world), { phase: 'Progressing', observedGeneration: 1 })
  t.match(await kept.end(), { metadata: { generation: 2 } })
})

t.test(
  'while the API server does not answer a claim is not confirmed, and it is renewed afterwards',
  async (t) => {
    const { world, keepClaim, pass, before, time } = stage()
    const held = await claimed(world)
    const kept = keepClaim(held.envelope, held.sentAt)
    before.write = () => {
      throw new Failure('NetworkError', 'No API server.')
    }
    await pass(25)
    t.match(await outcomeOf(kept.confirm()), { reason: 'NetworkError' })
    t.notOk(kept.lost.aborted)
    before.write = () => undefined
    await pass(1)
    await kept.confirm()
    t.equal(kept.remaining(), 25_000)
    t.equal(time.passed, 26_000)
    await kept.end()
  },
)

t.test('renewals of one namespace that take long keep those of another in time', async (t) => {
  const { world, time, pass } = stage()
  const renewed: string[] = []
  const patchStatus: typeof world.cluster.patchStatus = (resource, status) => {
    const { namespace } = resource.metadata
    renewed.push(namespace)
    return namespace === 'team' ? new Promise(() => undefined) : world.cluster.patchStatus(resource, status)
  }
  const clocks = { now: () => new Date(START + time.passed), elapsed: () => time.passed }
  const keepClaim = openClaimKeeper({ cluster: { ...world.cluster, patchStatus }, ...clocks })
  for (let i = 0; i < 20; i += 1) {
    const held = await claimed(world, `shop-${i}`)
    keepClaim(held.envelope, held.sentAt)
  }
  const held = await claimed(world, 'shop', 'other')
  keepClaim(held.envelope, held.sentAt)
  await pass(11)
  t.equal(renewed.filter((namespace) => namespace === 'other').length, 1)
  t.equal(renewed.length, 3, 'of all that are written at once, a namespace has two')
})

t.test(
  'renewals of ten namespaces that take long keep no other one waiting, and those of more take turns',
  async (t) => {
    const { world, time, pass } = stage()
    const open: (() => void)[] = []
    const renewed: string[] = []
    const patchStatus: typeof world.cluster.patchStatus = async (resource, status) => {
      renewed.push(resource.metadata.namespace)
      await new Promise<void>((resolve) => open.push(resolve))
      return world.cluster.patchStatus(resource, status)
    }
    const clocks = { now: () => new Date(START + time.passed), elapsed: () => time.passed }
    const keepClaim = openClaimKeeper({ cluster: { ...world.cluster, patchStatus }, ...clocks })
    async function keep(name: string, namespace: string): Promise<KeptClaim> {
      const held = await claimed(world, name, namespace)
      return keepClaim(held.envelope, held.sentAt)
    }
    for (let i = 0; i < 100; i += 1) await keep(`shop-${i}`, `team-${i % 10}`)
    await pass(11)
    const first = (await keep('shop', 'other')).confirm(true)
    await new Promise(setImmediate)
    t.equal(renewed.at(-1), 'other', 'ten have left some')
    for (let i = 0; i < 60; i += 1) await keep(`shop-${i}`, `more-${i % 10}`)
    await pass(11)
    const second = (await keep('shop', 'another')).confirm(true)
    let ended = 0
    for (; !renewed.includes('another'); ended += 1) {
      open.shift()?.()
      await new Promise(setImmediate)
    }
    t.ok(ended <= 21, `${ended} have ended before`)
    for (const end of open) end()
    await Promise.all([first, second])
  },
)
t.test('no more than 24 renewals run at once, of however many namespaces', async (t) => {
  const { world, time, pass } = stage()
  let renewals = 0
  const patchStatus: typeof world.cluster.patchStatus = () => {
    renewals += 1
    return new Promise(() => undefined)
  }
  const clocks = { now: () => new Date(START + time.passed), elapsed: () => time.passed }
  const keepClaim = openClaimKeeper({ cluster: { ...world.cluster, patchStatus }, ...clocks })
  for (let i = 0; i < 30; i += 1) {
    const held = await claimed(world, 'shop', `team-${i}`)
    keepClaim(held.envelope, held.sentAt)
  }
  await pass(11)
  t.equal(renewals, 24)
})

t.test('others wait for a claim to be confirmed for no longer than they say', async (t) => {
  const { world, time } = stage()
  const held = await claimed(world)
  const patchStatus = (): Promise<never> => new Promise(() => undefined)
  const clocks = { now: () => new Date(START + time.passed), elapsed: () => time.passed }
  const keepClaim = openClaimKeeper({ cluster: { ...world.cluster, patchStatus }, ...clocks })
  const kept = keepClaim(held.envelope, held.sentAt)
  // The time limit alone keeps no process alive; in the program, its servers do.
  const awake = setTimeout(() => undefined, 30_000)
  t.teardown(() => clearTimeout(awake))
  await kept.confirm(false, 1)
  await t.rejects(kept.confirm(true, 1), { reason: 'Conflict', message: /could not be renewed in the time/ })
  t.notOk(kept.lost.aborted)
})

t.test('a renewal whose answer was lost is no loss', async (t) => {
  const { world } = stage()
  const held = await claimed(world)
  let lost = 1
  const cluster: MemoryWorld['cluster'] = {
    ...world.cluster,
    async patchStatus(resource, status) {
      const stored = await world.cluster.patchStatus(resource, status)
      if (lost-- > 0) throw new Failure('NetworkError', 'The answer was lost.')
      return stored
    },
  }
  const kept = openClaimKeeper({ ...world, cluster })(held.envelope, held.sentAt)
  t.match(await outcomeOf(kept.confirm(true)), { reason: 'NetworkError' })
  await kept.confirm(true)
  t.notOk(kept.lost.aborted)
  await kept.end()
})

t.test('many claims are renewed by bounded writes, the oldest first, and none lapses', async (t) => {
  const { world, keepClaim, pass, writes } = stage()
  const kept: KeptClaim[] = []
  for (let i = 0; i < 1_280; i += 1) {
    const held = await claimed(world, `shop-${i}`)
    kept.push(keepClaim(held.envelope, held.sentAt))
  }
  writes.length = 0
  for (let second = 1; second <= 60; second += 1) {
    const sent = writes.length
    await pass(1)
    t.ok(writes.length - sent <= 64, 'in a second')
    t.ok(Math.min(...kept.map((one) => one.remaining())) >= -5_000, 'the oldest claim is younger than 30 s')
  }
  await Promise.all(kept.map((one) => one.end()))
})

t.test('what a follower commits is in the claim before the push, and in each renewal after it', async (t) => {
  const { world, keepClaim, pass, writes } = stage()
  const held = await claimed(world)
  const kept = keepClaim(held.envelope, held.sentAt)
  await kept.committing('0123456789abcdef')
  t.equal(writes.length, 2)
  await kept.committing('0123456789abcdef')
  t.equal(writes.length, 2, 'it is written once')
  await pass(11)
  t.equal(writes.length, 3)
  t.match(statusOf(world)?.sync, { commits: 0, committing: '0123456789abcdef' })
  t.match((await kept.end()).status?.sync, { committing: '0123456789abcdef' })
})

t.test('who has lost the claim cannot tell what they commit', async (t) => {
  const { world, keepClaim } = stage()
  const held = await claimed(world)
  const kept = keepClaim(held.envelope, held.sentAt)
  const later = afterItsEnd(world)
  const whole = world.cluster.get('GitCommit', 'team', 'shop')
  await claim({ envelope: envelopeOf(whole), parsed: parse(whole) }, later)
  await t.rejects(kept.committing('0123456789abcdef'), { name: 'Failure', reason: 'Conflict' })
  await kept.end()
})

t.test('an API server that refuses a renewal does not know all rights at the moment', async (t) => {
  const { world, keepClaim, before, time } = stage()
  const { envelope, sentAt } = await claimed(world)
  const kept = keepClaim(envelope, sentAt)
  before.write = () => {
    throw accountRefused('The account may not.')
  }
  time.passed += 21_000
  await t.rejects(kept.confirm(), { name: 'Failure', reason: 'ProviderUnavailable', retry: 'transient' })
  await t.rejects(kept.committing('0123456789abcdef'), { name: 'Failure', reason: 'ProviderUnavailable' })
  before.write = () => undefined
  await kept.confirm()
  await kept.end()
})
