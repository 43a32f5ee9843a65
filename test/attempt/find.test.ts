import t from 'tap'
import { finder } from '../../functions/attempt/find.ts'
import { requestDigest } from '../../functions/domain/commit/commit-id.ts'
import { requestedAt } from '../../functions/domain/resource/attempt-state.ts'
import { REQUESTED_AT } from '../../functions/domain/resource/api-names.ts'
import { gitCommit, memoryWorld } from '../harness/memory-world.ts'

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
