import t from 'tap'
import { handle } from '../../functions/attempt/attempt.ts'
import { finder } from '../../functions/attempt/find.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import { keyOf } from '../../functions/followed-objects.ts'
import type { Status } from '../../functions/domain/resource/stored-status.ts'
import { gitCommit, memoryWorld, STAMPED } from '../harness/memory-world.ts'
import type { MemoryWorld } from '../harness/memory-world.ts'

const NOW = Date.parse('2026-03-01T10:00:00Z')
const REF = { kind: 'GitCommit', namespace: 'team', name: 'shop' } as const
const DAY = 24 * 3600

/** A follower of the ConfigMap, and the remote as the set of ids whose commits are there. */
function stage() {
  const memory = memoryWorld()
  const clock = { seconds: 0 }
  const landed: string[] = []
  const world: MemoryWorld = Object.assign(memory, {
    now: () => new Date(NOW + clock.seconds * 1000),
    find: async ({ id }: { readonly id: string }) =>
      landed.includes(id) ? ({ outcome: 'found', sha: 'b'.repeat(40), branch: 'main' } as const) : undefined,
  })
  world.land = async ({ change }) => {
    landed.push(change.id)
    return { outcome: 'pushed', sha: 'a'.repeat(40), branch: 'main' }
  }
  const requester = JSON.stringify({ username: 'developer', groups: ['developers'], at: new Date(NOW) })
  const apply = (spec: object = {}, annotations: object = {}): unknown =>
    world.cluster.apply(
      gitCommit(
        { sync: 'OnChange', ...spec },
        { ...STAMPED, 'commitlet.dev/requester': requester, ...annotations },
      ),
    )
  const send = (): Promise<void> => handle(REF, finder(world.cluster, { reads: 8, waits: 8 }), world)
  const status = (): Status | undefined =>
    world.cluster.get('GitCommit', 'team', 'shop')?.status as Status | undefined
  const paint = (colour: string): unknown =>
    world.cluster.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'shop', namespace: 'team' },
      data: { colour },
    })
  const pushed = (): readonly string[] =>
    world.pushed.map(({ change }) => /colour: (\w+)/.exec(String(change.files[0]?.content))?.[1] ?? '')
  apply()
  return { world, clock, landed, apply, send, status, paint, pushed }
}

t.test('A, B, A are three commits, each once, however many events come', async (t) => {
  const { world, send, status, paint, landed } = stage()
  for (const [i, colour] of ['blue', 'red', 'blue'].entries()) {
    if (i > 0) paint(colour)
    for (let events = 0; events < 3; events += 1) await send()
    t.match(status(), { phase: 'Succeeded', sync: { commits: i + 1 }, attempts: 1 })
  }
  t.equal(world.pushed.length, 3)
  t.equal(new Set(landed).size, 3)
  t.equal(status()?.sync?.committing, undefined)
  t.match(status()?.sync, { digest: /^[0-9a-f]{16}$/, seenTime: '2026-03-01T10:00:00Z' })
})

t.test('the claim tells what is committed before it is pushed', async (t) => {
  const { world, send, status, paint } = stage()
  await send()
  const first = status()?.sync?.digest
  paint('red')
  world.land = async ({ change }) => {
    t.match(status(), { phase: 'Progressing', sync: { digest: first, commits: 1 } })
    t.equal(change.id.split('.').at(-1), status()?.sync?.committing)
    t.not(status()?.sync?.committing, first)
    return { outcome: 'pushed', sha: 'a'.repeat(40), branch: 'main' }
  }
  await send()
  t.match(status()?.sync, { commits: 2 })
})

t.test('what changes during an attempt is committed right after it', async (t) => {
  const { world, send, status, paint, pushed } = stage()
  const { land } = world
  let changed = false
  world.land = async (change) => {
    if (!changed) paint('red')
    changed = true
    return land(change)
  }
  await send()
  t.same(pushed(), ['blue', 'red'])
  t.match(status(), { phase: 'Succeeded', sync: { commits: 2 } })
})

t.test('also where the attempt before has failed, and its cause has been fixed', async (t) => {
  const { world, apply, send, status, paint, pushed } = stage()
  await send()
  apply({ message: 'Again' })
  const { land } = world
  world.land = async () => {
    throw new Failure('AuthenticationFailed', 'The token is refused.')
  }
  await send()
  t.match(status(), { phase: 'Retrying' })
  world.land = async (landing) => {
    world.land = land
    paint('red')
    await send()
    return land(landing)
  }
  // As a look tells that has seen another version of the Secret.
  await handle(REF, finder(world.cluster, { reads: 8, waits: 8 }), world, status()?.lastAttemptTime)
  t.same(pushed().slice(-2), ['blue', 'red'])
})

t.test('a source of which a look always tells another version is not attempted without end', async (t) => {
  const { world, send, status, paint, pushed } = stage()
  // As where its metadata are larger than a look reads.
  world.cluster.readVersion = () => Promise.resolve('/')
  const { land } = world
  world.land = (change) => {
    if (world.pushed.length > 20) throw new Error('It goes on and on')
    return land(change)
  }
  await send()
  t.equal(world.pushed.length, 2)
  await send()
  t.equal(world.pushed.length, 3, 'the next event or interval has it attempted once')
  paint('red')
  await send()
  t.same(pushed().slice(3), ['red', 'red'])
  t.match(status(), { phase: 'Succeeded' })
})

t.test(
  'where the branch holds the content already, what was seen is noted and nothing is counted',
  async (t) => {
    const { world, send, status, paint } = stage()
    await send()
    const { digest } = status()?.sync ?? {}
    world.land = () => Promise.resolve({ outcome: 'unchanged', sha: 'c'.repeat(40), branch: 'main' })
    paint('blue')
    await send()
    t.match(status(), { phase: 'Succeeded', sync: { commits: 1 }, conditions: [{ reason: 'UpToDate' }] })
    t.not(status()?.sync?.digest, digest)
    await send()
    t.equal(world.pushed.length, 2)
  },
)

t.test(
  'a crash after the push: its commit is found and counted once, and the newer state comes after it',
  async (t) => {
    const { world, clock, landed, send, status, paint, pushed } = stage()
    await send()
    const { land } = world
    paint('red')
    // The process ends: no result is written.
    const patchStatus = world.cluster.patchStatus.bind(world.cluster)
    world.land = async (change) => {
      await land(change)
      world.cluster.patchStatus = () => Promise.reject(new Error('The process has ended.'))
      return { outcome: 'pushed', sha: 'a'.repeat(40), branch: 'main' }
    }
    await t.rejects(send(), { message: 'The process has ended.' })
    Object.assign(world.cluster, { patchStatus })
    world.land = land
    t.match(status(), { phase: 'Progressing', sync: { commits: 1 } })
    paint('green')
    clock.seconds += 60
    await send()
    t.same(pushed(), ['blue', 'red', 'green'])
    t.equal(new Set(landed).size, 3)
    t.match(status(), { phase: 'Succeeded', sync: { commits: 3 } })
  },
)

t.test('a crash before the push: nothing is searched for, and nothing is late', async (t) => {
  const { world, clock, send, status, paint } = stage()
  await send()
  paint('red')
  const patchStatus = world.cluster.patchStatus.bind(world.cluster)
  const readObject = world.cluster.readObject.bind(world.cluster)
  world.cluster.readObject = () => {
    world.cluster.patchStatus = () => Promise.reject(new Error('The process has ended.'))
    return Promise.reject(new Error('The process has ended.'))
  }
  await t.rejects(send(), { message: 'The process has ended.' })
  Object.assign(world.cluster, { patchStatus, readObject })
  clock.seconds += 60
  await send()
  t.equal(world.pushed.length, 2)
  t.match(world.pushed[1]?.change, { latePush: false })
  t.equal(world.pushed[1]?.change.since, undefined)
  t.match(status(), { phase: 'Succeeded', sync: { commits: 2 } })
})

t.test(
  'an earlier push of another state is searched for before the new one, with the object there or not',
  async (t) => {
    const { world, clock, landed, send, status, paint } = stage()
    await send()
    paint('red')
    world.land = async ({ change }) => {
      landed.push(change.id)
      throw new Failure('NetworkError', 'The answer was lost.')
    }
    await send()
    t.match(status(), { phase: 'Retrying', sync: { commits: 1, committing: /./ } })
    world.cluster.remove('ConfigMap', 'team', 'shop')
    clock.seconds += 3600
    await send()
    t.match(status()?.sync, { commits: 2 })
    t.match(
      status(),
      { phase: 'Retrying', conditions: [{ reason: 'ReferenceNotFound' }] },
      'then it is missing',
    )
  },
)

t.test('the rights are those of the moment, and a right that was taken away ends it', async (t) => {
  const { world, send, status, paint, apply } = stage()
  await send()
  world.cluster.mayAccess = (_user, { resource }) => resource !== 'configmaps'
  await send()
  t.match(status(), { phase: 'Succeeded' }, 'nothing has changed')
  paint('red')
  await send()
  t.match(status(), { phase: 'Failed', conditions: [{ reason: 'ReferenceForbidden' }] })
  world.cluster.mayAccess = () => true
  paint('green')
  await send()
  t.match(status(), { phase: 'Failed' }, 'until it is asked for again')
  apply({}, { 'commitlet.dev/requested-at': 'again' })
  await send()
  t.match(status(), { phase: 'Succeeded', sync: { commits: 2 } })
})

t.test('after 90 days the status says how to ask again, whether anything has changed or not', async (t) => {
  const { world, clock, send, status } = stage()
  await send()
  clock.seconds += 90 * DAY
  await send()
  t.match(status(), { phase: 'Succeeded' })
  clock.seconds += 1
  await send()
  t.match(status(), { phase: 'Failed', conditions: [{ reason: 'ReferenceForbidden', message: /90 days/ }] })
  t.equal(world.pushed.length, 1)
})

t.test('a suspended follower commits nothing, and what it has missed afterwards', async (t) => {
  const { send, status, paint, apply, pushed } = stage()
  await send()
  apply({ suspend: true }, { 'commitlet.dev/request-generation': '1' })
  paint('red')
  await send()
  t.match(status(), { phase: 'Suspended', sync: { commits: 1 } })
  t.same(pushed(), ['blue'])
  apply({}, { 'commitlet.dev/request-generation': '1' })
  await send()
  t.match(status(), { phase: 'Succeeded', sync: { commits: 2 } })
  t.same(pushed(), ['blue', 'red'])
})

t.test('a look tells what the follower refers to, in this generation of its spec', async (t) => {
  const { world, apply, send } = stage()
  const mayFollow = (name: string): boolean => {
    const { metadata } = envelopeOf(world.cluster.get('GitCommit', 'team', 'shop'))
    const keys = new Set([keyOf({ namespace: 'team', name })])
    return world.followed.mayFollow(metadata, { areOfOneNamespace: true, keys })
  }
  t.ok(mayFollow('other'), 'nothing is known yet')
  await send()
  t.notOk(mayFollow('other'))
  t.ok(mayFollow('shop'))
  apply({ message: 'Another spec' })
  t.ok(mayFollow('other'))
})

t.test('an API server that cannot be asked fails the event, which comes again', async (t) => {
  const { world, send, status } = stage()
  await send()
  world.cluster.readVersion = () => Promise.reject(new Failure('NetworkError', 'No answer.'))
  await t.rejects(send(), { name: 'Failure', reason: 'NetworkError' })
  t.match(status(), { phase: 'Succeeded' })
})

t.test('one that follows no more is left alone, and tells nothing of what it has seen', async (t) => {
  const { world, send, status, paint, apply } = stage()
  await send()
  apply({ sync: 'Once' })
  await send()
  t.equal(status()?.sync, undefined)
  paint('red')
  await send()
  t.equal(world.pushed.length, 2)
})
