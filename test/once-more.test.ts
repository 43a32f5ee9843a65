import t from 'tap'
import { Failure } from '../functions/domain/failure.ts'
import { onceMore } from '../functions/once-more.ts'

const LACKING = new Failure('ReferenceForbidden', 'The account may not.', { retry: 'slow' })

/** A reading that fails with these, one after the other, and then answers how often it was asked. */
function failing(...failures: readonly Error[]): () => Promise<number> {
  let asked = 0
  return () => {
    const failure = failures[asked]
    asked += 1
    return failure === undefined ? Promise.resolve(asked) : Promise.reject(failure)
  }
}

t.test('a right that counts a moment later is waited for, once', async (t) => {
  t.equal(await onceMore(failing()), 1)
  t.equal(await onceMore(failing(LACKING)), 2)
  await t.rejects(onceMore(failing(LACKING, LACKING)), LACKING)
})

t.test('nothing else is asked for again', async (t) => {
  for (const error of [
    new Failure('ReferenceForbidden', 'The requester may not.'),
    new Failure('ReferenceNotFound', 'There is none.'),
    new Error('a bug'),
  ]) {
    await t.rejects(onceMore(failing(error)), error)
  }
})
