import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import { isFailureReason, REASONS } from '../../functions/domain/reasons.ts'
import type { FailureReason } from '../../functions/domain/reasons.ts'
import { withFallback } from '../../functions/login/with-fallback.ts'
import type { Source } from '../../functions/login/with-fallback.ts'

const PRIMARY = { used: 'Primary' } as const
const FALLBACK = { used: 'Fallback' } as const
/** The reasons that are caused by credentials. */
const TO_BLAME = [
  'AuthenticationFailed',
  'CredentialsInvalid',
  'PermissionDenied',
  'ReferenceNotFound',
  'RepositoryNotFound',
]

/** An attempt that fails with these reasons, and records the credentials that it used. */
function attempt(primary?: FailureReason, fallback?: FailureReason) {
  const tried: Source[] = []
  const work = (source: Source): Promise<string> => {
    tried.push(source)
    const reason = source.used === 'Primary' ? primary : fallback
    if (reason === undefined) return Promise.resolve(`by ${source.used}`)
    return Promise.reject(new Failure(reason, `${source.used} says ${reason}.`))
  }
  return { tried, work }
}

t.test('what succeeds is not done twice', async (t) => {
  const { tried, work } = attempt()
  t.same(await withFallback<Source, string>([PRIMARY, FALLBACK], work), {
    result: 'by Primary',
    used: 'Primary',
  })
  t.same(tried, [PRIMARY])
})

t.test('the fallback is used where the first credentials are the cause, and for nothing else', async (t) => {
  for (const reason of Object.keys(REASONS).filter(isFailureReason)) {
    const { tried, work } = attempt(reason)
    const ran = withFallback<Source, string>([PRIMARY, FALLBACK], work)
    if (TO_BLAME.includes(reason)) t.same(await ran, { result: 'by Fallback', used: 'Fallback' }, reason)
    else await t.rejects(ran, { reason, message: `Primary says ${reason}.` })
    t.equal(tried.length, TO_BLAME.includes(reason) ? 2 : 1, reason)
  }
})

t.test('without a fallback the failure stays as it is', async (t) => {
  const { work } = attempt('AuthenticationFailed')
  await t.rejects(withFallback([PRIMARY], work), { message: 'Primary says AuthenticationFailed.' })
})

/** The Failure that both together end with. */
async function failureOf(primary: FailureReason, fallback: FailureReason): Promise<unknown> {
  const { work } = attempt(primary, fallback)
  return withFallback<Source, string>([PRIMARY, FALLBACK], work).catch((error: unknown) => error)
}

t.test('both fail: both causes, and the reason of the first', async (t) => {
  t.match(await failureOf('PermissionDenied', 'TLSUntrusted'), {
    reason: 'PermissionDenied',
    retry: 'slow',
    message:
      'Primary says PermissionDenied. The fallback credentials failed, too (TLSUntrusted): Fallback says TLSUntrusted.',
  })
})

t.test('a transient failure of the fallback is retried soon', async (t) => {
  t.match(await failureOf('PermissionDenied', 'NetworkError'), {
    reason: 'PermissionDenied',
    retry: 'transient',
  })
})

for (const [primary, fallback, retry] of [
  ['ReferenceNotFound', 'ReferenceNotFound', 'reference'],
  ['ReferenceNotFound', 'AuthenticationFailed', 'reference'],
  ['ReferenceNotFound', 'NetworkError', 'transient'],
  ['AuthenticationFailed', 'ReferenceNotFound', 'transient'],
] as const)
  t.test(`${primary} and then ${fallback} are retried as ${retry}`, async (t) => {
    t.match(await failureOf(primary, fallback), { reason: primary, retry })
  })

t.test('the pause that the host asks for with the fallback is kept', async (t) => {
  const waiting = new Failure('RateLimited', 'Later.', { retryAfterSeconds: 90 })
  const work = ({ used }: Source): Promise<never> =>
    Promise.reject(used === 'Primary' ? new Failure('RepositoryNotFound', 'No.') : waiting)
  await t.rejects(withFallback<Source, never>([PRIMARY, FALLBACK], work), {
    reason: 'RepositoryNotFound',
    retry: 'transient',
    retryAfterSeconds: 90,
    cause: waiting,
  })
})

t.test('a bug is not a failure of credentials', async (t) => {
  const bug = new Error('a bug')
  const always = (): Promise<never> => Promise.reject(bug)
  await t.rejects(withFallback<Source, never>([PRIMARY, FALLBACK], always), bug)
  const second = ({ used }: Source): Promise<never> =>
    Promise.reject(used === 'Primary' ? new Failure('AuthenticationFailed', 'No.') : bug)
  await t.rejects(withFallback<Source, never>([PRIMARY, FALLBACK], second), bug)
})

t.test('a bug with the fallback does not hide the cause of the first failure', async (t) => {
  t.match(await failureOf('AuthenticationFailed', 'Internal'), {
    reason: 'AuthenticationFailed',
    retry: 'transient',
    message:
      'Primary says AuthenticationFailed. The fallback credentials failed, too (Internal): Fallback says Internal.',
  })
})

t.test('a failure that other credentials would not change is not tried with them', async (t) => {
  const { tried, work } = attempt()
  const moved = new Failure('RepositoryNotFound', 'It has moved.', { fallback: false })
  const failing = (source: Source): Promise<string> => work(source).then(() => Promise.reject<string>(moved))
  await t.rejects(withFallback([PRIMARY, FALLBACK], failing), moved)
  t.strictSame(tried, [PRIMARY])
})
