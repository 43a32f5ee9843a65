import t from 'tap'
import { withLatePushes } from '../../functions/domain/resource/late-push.ts'
import { claim, type Claim, type Claimable } from '../../functions/attempt/claim.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import { failed } from '../../functions/domain/resource/status.ts'
import { parse } from '../../functions/domain/schema/parse.ts'
import { gitCommit, memoryWorld, type MemoryWorld } from '../harness/memory-world.ts'

/** After the claim of an attempt that began when the world's clock stood still has run out. */
const LATER = new Date('2026-03-01T10:03:00Z')

function read(world: MemoryWorld): Claimable {
  const whole = world.cluster.get('GitCommit', 'team', 'shop')
  return { envelope: envelopeOf(whole), parsed: parse(whole) }
}

async function claimed(...of: Parameters<typeof claim>): Promise<Claim> {
  const held = await claim(...of)
  if (held === undefined || 'newer' in held) throw new Error('Nobody else was at work')
  return held
}

t.test('an attempt that fails between reading and claiming may have pushed', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  const fresh = read(world)
  const other = await claimed(fresh, world)
  t.equal(other.again, false)
  const failure = new Failure('Timeout', 'The server did not answer.')
  const status = failed(other.envelope, failure, { now: world.now(), limit: 12, random: 0 })
  await world.cluster.patchStatus(other.envelope, status)
  t.match(await claim(fresh, { ...world, now: () => LATER }), { again: true })
})

t.test('one whose result says that nothing was pushed has not, and no later claim says so', async (t) => {
  for (const [kept, again] of [
    [{}, false],
    [{ nothingPushedTime: '2026-03-01T10:00:00.000001Z' }, true],
  ] as const) {
    const world = memoryWorld()
    world.cluster.apply(gitCommit())
    const first = await claimed(read(world), world)
    const failure = new Failure('ReferenceNotFound', 'There is no ConfigMap shop.')
    const terms = { now: world.now(), limit: 12, random: 0, nothingPushed: true }
    await world.cluster.patchStatus(first.envelope, { ...failed(first.envelope, failure, terms), ...kept })
    t.match(await claim(read(world), { ...world, now: () => LATER }), { isRetry: true, again })
    t.match(await claim(read(world), { ...world, now: () => new Date('2026-03-01T10:10:00Z') }), {
      again: true,
    })
  }
})

t.test('a newer generation that is being deleted is not taken up', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  const held = await claimed(read(world), world)
  const { metadata, ...rest } = gitCommit({ message: 'Second' })
  world.cluster.apply({ ...rest, metadata: { ...metadata, deletionTimestamp: '2026-03-01T10:00:01Z' } })
  t.equal(await claim(read(world), world, held.envelope), undefined)
})

t.test('a newer generation that another attempt holds by now is left to that one', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  const held = await claimed(read(world), world)
  world.cluster.apply(gitCommit({ message: 'Second' }))
  const later = { ...world, now: () => LATER }
  t.ok(await claim(read(world), later))
  t.equal(await claim(read(world), later, held.envelope), undefined)
})

t.test(
  'a resource that replaced the one that was read is returned with its own spec, unclaimed',
  async (t) => {
    const world = memoryWorld()
    world.cluster.apply(gitCommit())
    const replaced = read(world)
    world.cluster.remove('GitCommit', 'team', 'shop')
    world.cluster.apply(gitCommit({ message: 'Another one' }))
    t.match(await claim(replaced, world), {
      newer: {
        envelope: { metadata: { generation: replaced.envelope.metadata.generation } },
        parsed: { spec: { message: 'Another one' } },
      },
      heldBefore: undefined,
    })
    t.equal(read(world).envelope.status?.phase, 'Pending')
  },
)

/** A world whose clock a test sets, with a fresh resource. */
function clockedWorld() {
  let time = Date.parse('2026-03-01T10:00:00Z')
  const world = { ...memoryWorld(), now: () => new Date(time) }
  world.cluster.apply(gitCommit())
  const waitFor = (seconds: number): void => void (time += seconds * 1000)
  return { world, waitFor, waitUntil: (at: string | undefined) => (time = Date.parse(at ?? '')) }
}

t.test('from the third lapse in a row it waits, until it is given up', async (t) => {
  const { world, waitFor, waitUntil } = clockedWorld()
  const statusNow = () => read(world).envelope.status
  const waits: number[] = []
  for (let attempts = 1; attempts <= 12; attempts += 1) {
    const held = await claim(read(world), world)
    t.match(held, { again: attempts > 1 }, `attempt ${attempts} may start`)
    t.match(statusNow(), {
      phase: 'Progressing',
      attempts,
      lapses: attempts === 1 ? undefined : attempts - 1,
    })
    waitFor(31)
    if (attempts < 3) continue
    t.equal(await claim(read(world), world), undefined, 'it has lapsed too often')
    if (attempts === 12) break
    t.match(statusNow(), {
      phase: 'Retrying',
      lapses: attempts,
      conditions: [
        { type: 'Ready', reason: 'Internal', message: new RegExp(`^The last ${attempts} attempts`) },
      ],
    })
    t.equal(await claim(read(world), world), undefined, 'nothing before its time')
    const { nextAttemptTime } = statusNow() ?? {}
    waits.push((Date.parse(nextAttemptTime ?? '') - world.now().getTime()) / 1000)
    waitUntil(nextAttemptTime)
  }
  t.match(statusNow(), {
    phase: 'Failed',
    conditions: [{ reason: 'RetryBudgetExhausted' }],
    lapses: undefined,
  })
  t.same(
    waits,
    waits.toSorted((a, b) => a - b),
    'longer and longer',
  )
  t.ok((waits[0] ?? 0) > 10, `first ${waits[0]} s`)
})

for (const [title, change] of [
  ['a newer spec', { message: 'Second' }],
  ['a new request', undefined],
] as const)
  t.test(`${title} starts afresh`, async (t) => {
    const { world, waitFor } = clockedWorld()
    for (let attempts = 1; attempts <= 2; attempts += 1) {
      await claim(read(world), world)
      waitFor(31)
    }
    world.cluster.apply(
      change === undefined ? gitCommit({}, { 'commitlet.dev/requested-at': 'now' }) : gitCommit(change),
    )
    t.match(await claim(read(world), world), {
      again: false,
      envelope: { status: { attempts: 1, lapses: undefined } },
    })
  })

t.test('an attempt that writes its result ends the row', async (t) => {
  const { world, waitFor, waitUntil } = clockedWorld()
  await claim(read(world), world)
  waitFor(31)
  const held = await claimed(read(world), world)
  t.match(held.envelope.status, { lapses: 1 })
  const failure = new Failure('NetworkError', 'No.')
  const status = failed(held.envelope, failure, { now: world.now(), limit: 12, random: 0.5 })
  await world.cluster.patchStatus(held.envelope, status)
  waitUntil(status.nextAttemptTime)
  t.match(await claimed(read(world), world), { envelope: { status: { attempts: 3, lapses: undefined } } })
})

t.test('an attempt that ended without a result may have left a push that is carried out late', async (t) => {
  const { world, waitFor, waitUntil } = clockedWorld()
  t.match(
    (await claimed(read(world), world)).envelope.status,
    { latePush: undefined },
    'the first one has not',
  )
  waitFor(31)
  const second = await claimed(read(world), world)
  t.match(second.envelope.status, { latePush: true })
  const terms = { now: world.now(), limit: 12, random: 0.5 }
  const status = failed(second.envelope, new Failure('NetworkError', 'No.'), {
    ...terms,
    late: { latePush: true },
  })
  await world.cluster.patchStatus(second.envelope, status)
  waitUntil(status.nextAttemptTime)
  world.cluster.apply(gitCommit({ message: 'Second' }))
  t.match(
    (await claimed(read(world), world)).envelope.status,
    { attempts: 1, latePush: true },
    'of any generation',
  )
})

t.test('what became of the pushes under the claim of the same process is known', async (t) => {
  for (const latePush of [false, true]) {
    const { world } = clockedWorld()
    const { envelope } = await claimed(read(world), world)
    world.cluster.apply(gitCommit({ message: 'Second' }))
    const next = await claim(read(world), world, withLatePushes(envelope, { latePush }))
    t.match(next, { envelope: { status: { latePush: latePush || undefined } } })
  }
})
