import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import { accountLacks, anybodyLacks, retryForbidden } from '../../functions/cluster/rbac-retry.ts'

const ACCOUNT = new Failure('ReferenceForbidden', 'The account may not.', { retry: 'slow' })
const REQUESTER = new Failure('ReferenceForbidden', 'The requester may not.')
const MISSING = new Failure('ReferenceNotFound', 'There is none.')
const AT_LEISURE = new AbortController().signal

/** An asking that fails with these, one after the other, and then answers how often it was asked. */
function failing(...failures: readonly Error[]): () => Promise<number> {
  let asked = 0
  return () => {
    const failure = failures[asked]
    asked += 1
    return failure === undefined ? Promise.resolve(asked) : Promise.reject(failure)
  }
}

for (const [title, lacks, failure] of [
  ['of the account', accountLacks, ACCOUNT],
  ['of the account, where anybody counts', anybodyLacks, ACCOUNT],
  ['of the requester', anybodyLacks, REQUESTER],
] as const) {
  t.test(`a right ${title} that counts a moment later is waited for, once`, async (t) => {
    t.equal(await retryForbidden(failing(), lacks, AT_LEISURE), 1)
    t.equal(await retryForbidden(failing(failure), lacks, AT_LEISURE), 2)
    await t.rejects(retryForbidden(failing(failure, failure), lacks, AT_LEISURE), failure)
  })
}

for (const [title, lacks, error] of [
  ['a right of the requester, where the account counts', accountLacks, REQUESTER],
  ['an object that is not there', anybodyLacks, MISSING],
  ['a bug', anybodyLacks, new Error('a bug')],
] as const) {
  t.test(`nothing else is asked for again: ${title}`, async (t) => {
    await t.rejects(retryForbidden(failing(error), lacks, AT_LEISURE), error)
  })
}

t.test('nobody waits beyond the time of the attempt, and what was lacking is not final then', async (t) => {
  const ending = new AbortController()
  const ask = failing(REQUESTER)
  const waiting = retryForbidden(ask, anybodyLacks, ending.signal)
  setImmediate(() => ending.abort())
  await t.rejects(waiting, { reason: 'Timeout', retry: 'transient', message: /; it is tried again\.$/ })
  t.equal(await ask(), 2, 'it was asked once')
})
