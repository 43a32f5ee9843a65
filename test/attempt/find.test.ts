import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { finder } from '../../functions/attempt/find.ts'
import { requestDigest } from '../../functions/domain/commit/commit-id.ts'
import { requestedAt } from '../../functions/domain/resource/attempt-state.ts'
import { REQUESTED_AT } from '../../functions/domain/resource/api-names.ts'
import { gitCommit, memoryWorld } from '../harness/memory-world.ts'
import { waitFor } from '../harness/wait.ts'

const REF = { kind: 'GitCommit', namespace: 'team', name: 'shop' } as const

t.test('an event of a second request waits for that one while the first is still stored', async (t) => {
  const { cluster } = memoryWorld()
  cluster.apply(gitCommit({}, { [REQUESTED_AT]: 'first' }))
  let reads = 0
  const slow: typeof cluster = {
    ...cluster,
    async readResource(ref) {
      const seen = await cluster.readResource(ref)
      reads += 1
      if (reads === 1) cluster.apply(gitCommit({}, { [REQUESTED_AT]: 'second' }))
      return seen
    },
  }
  const found = await finder(slow, { reads: 1, waits: 1 })({ ...REF, request: requestDigest('second') })
  t.equal(found === undefined ? undefined : requestedAt(found.envelope), 'second')
})

t.test('one namespace does not take all waits for what is not stored yet', async (t) => {
  const { cluster } = memoryWorld()
  let reads = 0
  const counted: Pick<typeof cluster, 'readResource'> = {
    readResource(ref) {
      reads += 1
      return cluster.readResource(ref)
    },
  }
  const find = finder(counted, { reads: 24, waits: 124 })
  const never = Array.from({ length: 200 }, (_, i) =>
    find({ ...REF, namespace: 'flood', name: `never-${i}` }),
  )
  const early = find(REF)
  // Of the 200, those that wait are read again.
  await waitFor('the second reads', () => reads > 201 || undefined, 10_000)
  cluster.apply(gitCommit())
  t.ok(await early, 'it is found when it is stored')
  t.ok((await Promise.all(never)).every((found) => found === undefined))
  t.ok(reads < 201 + 62 * 9 + 9, `${reads} reads`)
})

t.test(
  'whoever has reviews made of invented names keeps no event of another caller from waiting',
  async (t) => {
    const { cluster } = memoryWorld()
    const find = finder(cluster, { reads: 24, waits: 186 })
    const invented = Array.from({ length: 400 }, (_, i) =>
      find({
        ...REF,
        namespace: i % 2 === 0 ? REF.namespace : `invented-${i}`,
        name: `any-${i}`,
        caller: 'pod',
      }),
    )
    await setImmediate()
    const early = Array.from({ length: 10 }, () => find({ ...REF, caller: 'server' }))
    await setImmediate()
    cluster.apply(gitCommit())
    t.ok((await Promise.all(early)).every((found) => found !== undefined))
    t.ok((await Promise.all(invented)).every((found) => found === undefined))
  },
)

t.test('an event of a create that was refused because its name is taken costs one read', async (t) => {
  const { cluster } = memoryWorld()
  cluster.apply(gitCommit())
  const stored = await cluster.readResource(REF)
  let reads = 0
  const counted: Pick<typeof cluster, 'readResource'> = {
    readResource(ref) {
      reads += 1
      return cluster.readResource(ref)
    },
  }
  const found = await finder(counted, { reads: 1, waits: 124 })({ ...REF, uid: 'of-another', generation: 1 })
  t.equal(reads, 1)
  t.equal(found?.whole, stored, 'the one that is there is found')
})

t.test(
  'the reads of a namespace with many events keep those of another one waiting for one of them',
  async (t) => {
    const order: string[] = []
    const open: (() => void)[] = []
    const cluster = {
      readResource({ namespace }: typeof REF | { readonly namespace: string }) {
        order.push(namespace)
        return new Promise<undefined>((resolve) => open.push(() => resolve(undefined)))
      },
    }
    const find = finder(cluster, { reads: 1, waits: 0 })
    const finds = Array.from({ length: 20 }, (_, i) => find({ ...REF, namespace: 'loud', name: `n${i}` }))
    finds.push(find({ ...REF, namespace: 'quiet' }))
    const seen = { over: false }
    const done = Promise.all(finds).finally(() => (seen.over = true))
    while (!seen.over) {
      for (const answer of open.splice(0)) answer()
      await setImmediate()
    }
    await done
    t.ok(order.indexOf('quiet') <= 2, `after ${order.indexOf('quiet')} others`)
  },
)
