import t from 'tap'
import { Failure, RETRY_BY_REASON } from '../../functions/domain/failure.ts'
import type { FailureReason } from '../../functions/domain/failure.ts'
import { withFallback } from '../../functions/login/with-fallback.ts'
import type { Way } from '../../functions/login/with-fallback.ts'

const PRIMARY = { used: 'Primary' } as const
const FALLBACK = { used: 'Fallback' } as const
const MENDED = [
  'AuthenticationFailed',
  'CredentialsInvalid',
  'PermissionDenied',
  'ReferenceNotFound',
  'RepositoryNotFound',
]

/** A journey whose ways fail with these reasons; what it went by is kept. */
function journey(primary?: FailureReason, fallback?: FailureReason) {
  const gone: Way[] = []
  const go = (way: Way): Promise<string> => {
    gone.push(way)
    const reason = way.used === 'Primary' ? primary : fallback
    if (reason === undefined) return Promise.resolve(`by ${way.used}`)
    return Promise.reject(new Failure(reason, `${way.used} says ${reason}.`))
  }
  return { gone, go }
}

t.test('what works is not done twice', async (t) => {
  const { gone, go } = journey()
  t.same(await withFallback<Way, string>([PRIMARY, FALLBACK], go), { result: 'by Primary', used: 'Primary' })
  t.same(gone, [PRIMARY])
})

t.test('the second way is gone where the first one’s credentials fail, and for nothing else', async (t) => {
  for (const reason of Object.keys(RETRY_BY_REASON) as FailureReason[]) {
    const { gone, go } = journey(reason)
    const went = withFallback<Way, string>([PRIMARY, FALLBACK], go)
    if (MENDED.includes(reason)) t.same(await went, { result: 'by Fallback', used: 'Fallback' }, reason)
    else await t.rejects(went, { reason, message: `Primary says ${reason}.` })
    t.equal(gone.length, MENDED.includes(reason) ? 2 : 1, reason)
  }
})

t.test('with one way alone its failure stays as it is', async (t) => {
  const { go } = journey('AuthenticationFailed')
  await t.rejects(withFallback([PRIMARY], go), { message: 'Primary says AuthenticationFailed.' })
})

/** The Failure that both ways together end with. */
async function failureOf(primary: FailureReason, fallback: FailureReason): Promise<unknown> {
  const { go } = journey(primary, fallback)
  return withFallback<Way, string>([PRIMARY, FALLBACK], go).catch((error: unknown) => error)
}

t.test('both fail: both causes, and the reason of the first', async (t) => {
  t.match(await failureOf('PermissionDenied', 'TLSUntrusted'), {
    reason: 'PermissionDenied',
    retry: 'slow',
    message:
      'Primary says PermissionDenied. The fallback credentials failed, too (TLSUntrusted): Fallback says TLSUntrusted.',
  })
})

t.test('what goes by by itself is tried again soon', async (t) => {
  t.match(await failureOf('PermissionDenied', 'NetworkError'), {
    reason: 'PermissionDenied',
    retry: 'transient',
  })
})

t.test('what the second way asks for is heard', async (t) => {
  const waiting = new Failure('RateLimited', 'Later.', { retryAfterSeconds: 90 })
  const go = (way: Way): Promise<never> =>
    Promise.reject(way.used === 'Primary' ? new Failure('RepositoryNotFound', 'No.') : waiting)
  await t.rejects(withFallback<Way, never>([PRIMARY, FALLBACK], go), {
    reason: 'RepositoryNotFound',
    retry: 'transient',
    retryAfterSeconds: 90,
    cause: waiting,
  })
})

t.test('a bug is no failure of credentials', async (t) => {
  const bug = new Error('a bug')
  const always = (): Promise<never> => Promise.reject(bug)
  await t.rejects(withFallback<Way, never>([PRIMARY, FALLBACK], always), bug)
  const second = (way: Way): Promise<never> =>
    Promise.reject(way.used === 'Primary' ? new Failure('AuthenticationFailed', 'No.') : bug)
  await t.rejects(withFallback<Way, never>([PRIMARY, FALLBACK], second), bug)
})

t.test('a failure of our own on the second way leaves the cause of the first in sight', async (t) => {
  t.match(await failureOf('AuthenticationFailed', 'Internal'), {
    reason: 'AuthenticationFailed',
    retry: 'transient',
    message:
      'Primary says AuthenticationFailed. The fallback credentials failed, too (Internal): Fallback says Internal.',
  })
})
