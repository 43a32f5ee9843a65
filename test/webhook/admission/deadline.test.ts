import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { withDeadline } from '../../../webhook/admission/deadline.ts'

t.test('work that ends in time gives its result', async (t) => {
  t.equal(await withDeadline(Promise.resolve('done'), 1_000), 'done')
  await t.rejects(withDeadline(Promise.reject(new TypeError('a bug')), 1_000), new TypeError('a bug'))
})

t.test('work that does not is a Timeout, and its late end is ignored', async (t) => {
  const { promise, reject } = Promise.withResolvers<never>()
  await t.rejects(
    withDeadline(promise, 1),
    new Failure('Timeout', 'The API server did not answer within 1 ms.'),
  )
  reject(new Error('late'))
})
