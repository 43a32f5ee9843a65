import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import type { FailureReason } from '../../functions/domain/reasons.ts'
import { withNewToken } from '../../functions/login/with-new-token.ts'

/** Logs in and works; the work fails with these reasons, one after the other, and then succeeds. */
async function stage(reasons: readonly FailureReason[], isIssued = true) {
  const did: string[] = []
  const left = [...reasons]
  const logIn = async () => {
    did.push('log in')
    const issued = { counted: '', forget: () => void did.push('forget') }
    return Promise.resolve(isIssued ? { issued } : {})
  }
  const work = async (): Promise<string> => {
    did.push('work')
    const reason = left.shift()
    if (reason === undefined) return Promise.resolve('done')
    throw new Failure(reason, 'No.')
  }
  const ended = await withNewToken(logIn, work).catch((error: unknown) => error)
  return { did, ended }
}

const AGAIN = ['log in', 'work', 'forget', 'log in', 'work']

t.test('a refused token is asked for again, once', async (t) => {
  t.strictSame(await stage([]), { did: ['log in', 'work'], ended: 'done' })
  t.strictSame(await stage(['AuthenticationFailed']), { did: AGAIN, ended: 'done' })
  const { did, ended } = await stage(['AuthenticationFailed', 'AuthenticationFailed'])
  t.strictSame(did, AGAIN)
  t.match(ended, { reason: 'AuthenticationFailed', message: 'No.', retry: 'transient' })
  t.match((await stage(['AuthenticationFailed', 'PushRejected'])).ended, {
    reason: 'PushRejected',
    retry: 'never',
  })
})

t.test('after what other rights may fix, the next attempt asks for a token', async (t) => {
  for (const reason of ['PermissionDenied', 'RepositoryNotFound'] as const) {
    const { did, ended } = await stage([reason])
    t.strictSame(did, ['log in', 'work', 'forget'])
    t.match(ended, { reason })
  }
  t.strictSame((await stage(['PushRejected'])).did, ['log in', 'work'])
  t.strictSame((await stage(['Timeout'])).did, ['log in', 'work'])
})

t.test('a token of the Secret is not tried twice', async (t) => {
  t.strictSame((await stage(['AuthenticationFailed'], false)).did, ['log in', 'work'])
})
