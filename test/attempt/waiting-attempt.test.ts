import t from 'tap'
import { collect } from '../harness/collect.ts'
import type { Test } from 'tap'
import { handle } from '../../functions/attempt/attempt.ts'
import { finder } from '../../functions/attempt/find.ts'
import type { ObjectRef } from '../../functions/domain/resource/resource.ts'
import type { MemoryWorld } from '../harness/memory-world.ts'
import { gitCommit, memoryWorld } from '../harness/memory-world.ts'
import { chains } from '../harness/chains.ts'
import { waitFor } from '../harness/wait.ts'

const MIB = 1024 * 1024
const MANY = 24
const REF = { kind: 'GitCommit', namespace: 'team', name: 'shop' } as const

/** 98 KB as JSON, 2.4 MiB in memory. */
function largeInMemory(): Readonly<Record<string, unknown>> {
  return {
    resourceRef: undefined,
    files: [{ path: 'a.yaml', set: [{ field: '.a', value: chains(9_900, 24) }] }],
  }
}

function longTexts(): Readonly<Record<string, unknown>> {
  const files = [1, 2, 3, 4].map((i) => ({ path: `${i}.txt`, content: 'x'.repeat(60_000) }))
  return { resourceRef: undefined, files }
}

/** A world in which attempts wait for a turn until `open` is called, and each answer of the API server is parsed again. */
function crowdedWorld() {
  const memory = memoryWorld()
  const opened = Promise.withResolvers<true>()
  const texts = new Map<string, string>()
  let [reads, waiting] = [0, 0]
  const world: MemoryWorld = {
    ...memory,
    editFile: () => Promise.resolve(Buffer.from('edited: true\n')),
    cluster: {
      ...memory.cluster,
      async readResource(ref) {
        reads += 1
        const text = texts.get(ref.name)
        const stored = memory.cluster.get(ref.kind, ref.namespace, ref.name)
        if (text === undefined || stored === undefined) return stored
        return { ...stored, spec: JSON.parse(text) }
      },
    },
    async takeTurn(...of) {
      waiting += 1
      await opened.promise
      return memory.takeTurn(...of)
    },
  }
  /** Stores a resource of which only the text of the spec stays in memory. */
  function apply(name: string, spec: Readonly<Record<string, unknown>>): void {
    const { spec: whole, ...resource } = gitCommit(spec)
    texts.set(name, JSON.stringify(whole))
    memory.cluster.apply({ ...resource, metadata: { ...resource.metadata, name } })
  }
  const send = (ref: ObjectRef): Promise<void> =>
    handle(ref, finder(world.cluster, { reads: 8, waits: 8 }), world)
  return {
    world,
    memory,
    apply,
    send,
    open: () => opened.resolve(true),
    reads: () => reads,
    waiting: () => waiting,
  }
}

/** The attempts of many resources with such specs wait: not a tenth of what these take is held. */
async function waitAll(
  t: Test,
  spec: () => Readonly<Record<string, unknown>>,
  eachMiB: number,
): Promise<void> {
  const { memory, apply, send, open, waiting } = crowdedWorld()
  for (let i = 0; i < MANY; i += 1) apply(`shop-${i}`, spec())
  collect()
  const before = process.memoryUsage().heapUsed
  const sent = Array.from({ length: MANY }, (_, i) => send({ ...REF, name: `shop-${i}` }))
  await waitFor('attempts that wait', () => waiting() === MANY || undefined, 60_000)
  collect()
  const heldMiB = (process.memoryUsage().heapUsed - before) / MIB
  t.ok(heldMiB < (MANY * eachMiB) / 10, `${heldMiB} MiB are held`)
  open()
  await Promise.all(sent)
  t.equal(memory.pushed.length, MANY, 'all have gone on')
}

t.test('attempts that wait for a turn hold nothing of specs that take 25 times their text', (t) =>
  waitAll(t, largeInMemory, 2.4),
)

t.test('attempts that wait for a turn hold nothing of long texts', (t) => waitAll(t, longTexts, 0.24))

t.test('what is large in memory is counted from its turn on, and while it waits for its push', async (t) => {
  const { world, apply, open } = crowdedWorld()
  open()
  apply('shop', largeInMemory())
  const counted: number[] = []
  const takeTurn: MemoryWorld['takeTurn'] = async (kind, holder) => {
    counted.push(holder.bytes ?? 0)
    const turn = await world.takeTurn(kind, holder)
    return turn && { ...turn, park: (bytes) => void counted.push(bytes) }
  }
  await handle(REF, finder(world.cluster, { reads: 8, waits: 8 }), { ...world, takeTurn })
  t.equal(counted.length, 2)
  for (const bytes of counted) t.ok(bytes > 2.4 * MIB && bytes < 3 * MIB, `${bytes}`)
})

t.test('a login with many values counts while it waits for its push', async (t) => {
  const { memory, world, apply, open } = crowdedWorld()
  open()
  apply('shop', {})
  const counted: number[] = []
  const takeTurn: MemoryWorld['takeTurn'] = async (kind, holder) => {
    const turn = await world.takeTurn(kind, holder)
    return turn && { ...turn, park: (bytes) => void counted.push(bytes) }
  }
  const attempt = (name: string): Promise<void> =>
    handle({ ...REF, name }, finder(world.cluster, { reads: 8, waits: 8 }), { ...world, takeTurn })
  await attempt('shop')
  const lines = Array.from({ length: 900 }, (_, i) => `${i}`.padEnd(60, 'x')).join('\n')
  memory.cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name: 'git', namespace: 'team' },
    stringData: { token: 'token', lines },
  })
  apply('other', {})
  await attempt('other')
  const [usual = NaN, large = NaN] = counted
  t.ok(large - usual > 60_000, `${usual}, ${large}`)
})

t.test('only what takes much memory is read again in its turn', async (t) => {
  const { apply, send, open, reads } = crowdedWorld()
  open()
  apply('small', {})
  await send({ ...REF, name: 'small' })
  t.equal(reads(), 1)
  apply('large', largeInMemory())
  await send({ ...REF, name: 'large' })
  t.equal(reads(), 3)
})

t.test('a spec that has changed during the wait takes a turn of its own', async (t) => {
  const { memory, apply, send, open, waiting } = crowdedWorld()
  apply('shop', largeInMemory())
  const sent = send(REF)
  await waitFor('attempt that waits', () => waiting() === 1 || undefined, 10_000)
  const changed = { message: 'Changed' }
  memory.cluster.apply(gitCommit(changed))
  apply('shop', { ...largeInMemory(), ...changed })
  open()
  await sent
  t.equal(waiting(), 2)
  t.match(memory.pushed, [{ change: { message: /^Changed/ } }])
})

t.test('a resource that was deleted during the wait is not attempted', async (t) => {
  const { memory, apply, send, open, waiting } = crowdedWorld()
  apply('shop', largeInMemory())
  const sent = send(REF)
  await waitFor('attempt that waits', () => waiting() === 1 || undefined, 10_000)
  memory.cluster.remove('GitCommit', 'team', 'shop')
  open()
  await sent
  t.same(memory.pushed, [])
})
