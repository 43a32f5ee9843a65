import t from 'tap'
import { accountRefused } from '../../functions/cluster/calls/answer.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { isAccountRefused, isForbidden, retryForbidden } from '../../functions/cluster/rbac-retry.ts'

const ACCOUNT = accountRefused('The account may not.')
const REQUESTER = new Failure('ReferenceForbidden', 'The requester may not.')
/** A user can fix it, as with the account's right: what counts is whose right it is. */
const UNBOUND = new Failure('ReferenceForbidden', 'The Secret is not bound.', { retry: 'slow' })
const MISSING = new Failure('ReferenceNotFound', 'There is none.')
const NEVER = asking(true)

/** An API server that knows all rights, or has just started. */
function asking(knowsRights: boolean, signal = new AbortController().signal) {
  return { cluster: { knowsRights: () => Promise.resolve(knowsRights) }, signal }
}

/** A call that fails with these, one after the other, and then returns how often it was called. */
function failing(...failures: readonly Error[]): () => Promise<number> {
  let calls = 0
  return () => {
    const failure = failures[calls]
    calls += 1
    return failure === undefined ? Promise.resolve(calls) : Promise.reject(failure)
  }
}

for (const [title, mayRetry, failure] of [
  ['of the account', isAccountRefused, ACCOUNT],
  ['of the account, where both count', isForbidden, ACCOUNT],
  ['of the requester', isForbidden, REQUESTER],
] as const) {
  t.test(`a right ${title} that takes effect a moment later is waited for, once`, async (t) => {
    t.equal(await retryForbidden(failing(), mayRetry, NEVER), 1)
    t.equal(await retryForbidden(failing(failure), mayRetry, NEVER), 2)
    await t.rejects(retryForbidden(failing(failure, failure), mayRetry, NEVER), failure)
  })
}

for (const [title, mayRetry, error] of [
  ['a right of the requester, where the account counts', isAccountRefused, REQUESTER],
  ['a Secret that is not bound, where the account counts', isAccountRefused, UNBOUND],
  ['an object that is not there', isForbidden, MISSING],
  ['a bug', isForbidden, new Error('a bug')],
] as const) {
  t.test(`nothing else is retried: ${title}`, async (t) => {
    await t.rejects(retryForbidden(failing(error), mayRetry, NEVER), error)
  })
}

t.test('an API server that is not ready may not know all rights: what it denies is not final', async (t) => {
  const started = asking(false)
  for (const [mayRetry, failure] of [
    [isAccountRefused, ACCOUNT],
    [isForbidden, REQUESTER],
  ] as const) {
    t.equal(await retryForbidden(failing(failure), mayRetry, started), 2)
    await t.rejects(retryForbidden(failing(failure, failure), mayRetry, started), {
      reason: 'ProviderUnavailable',
      retry: 'transient',
      message: /; Commitlet retries automatically\.$/,
    })
    await t.rejects(retryForbidden(failing(failure, MISSING), mayRetry, started), MISSING)
  }
})

t.test('the wait ends with the attempt, and the missing right is not final then', async (t) => {
  const ending = new AbortController()
  const run = failing(REQUESTER)
  const waiting = retryForbidden(run, isForbidden, asking(true, ending.signal))
  setImmediate(() => ending.abort())
  await t.rejects(waiting, {
    reason: 'Timeout',
    retry: 'transient',
    message: /; Commitlet retries automatically\.$/,
  })
  t.equal(await run(), 2, 'it was called once')
})
