import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { withDeadline } from '../../../webhook/admission/deadline.ts'

t.test('what ends in time is answered as it ends', async (t) => {
  t.equal(await withDeadline(Promise.resolve('done'), 1_000), 'done')
  await t.rejects(withDeadline(Promise.reject(new TypeError('a bug')), 1_000), new TypeError('a bug'))
})

t.test('what does not is a Timeout, and its late end disturbs nobody', async (t) => {
  const { promise, reject } = Promise.withResolvers<never>()
  await t.rejects(
    withDeadline(promise, 1),
    new Failure('Timeout', 'The API server did not answer within 1 ms.'),
  )
  reject(new Error('late'))
})
