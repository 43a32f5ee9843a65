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
