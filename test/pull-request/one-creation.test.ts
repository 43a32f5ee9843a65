import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import type { ApiCaller, PullRequests } from '../../functions/domain/pull-request/pull-requests.ts'
import { hostNamed } from '../../functions/domain/repository/hosts.ts'
import { makeApiLimits } from '../../functions/login/limits/api-limits.ts'
import { openProviders } from '../../functions/pull-request/provider-apis.ts'
import { GITEA } from '../harness/hosts/gitea.ts'
import { startHost } from '../harness/hosts/host-server.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import { settingsWith } from '../providers/port-stage.ts'

const NEVER = new AbortController().signal
const EVIL = ['evil-1', 'evil-2', 'evil-3', 'evil-4']

function branchesOf(head: string) {
  return { base: 'main', head, headOwner: undefined }
}

/** A Gitea whose next creation waits until `go`; `asked` resolves when it has come. */
async function stage(t: Test) {
  const model = memoryModel({ repository: ['acme', 'shop'] })
  for (const head of ['x', 'y', 'z']) model.branches.set(head, 3)
  for (const token of ['a', 'b']) model.tokens.set(token, 'write')
  for (const token of EVIL) model.tokens.set(token, 'read')
  const host = await startHost(t, GITEA, model)
  const provider = hostNamed('gitea')
  if (provider === undefined) throw new Error('There is no such host.')
  const use = openProviders(
    settingsWith(host.caFile),
    makeApiLimits(() => performance.now()),
  )
  const [asked, going] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
  const isCreation = (method: string, path: string): boolean => method === 'POST' && path.endsWith('/pulls')
  const happens = (): Promise<undefined> => {
    asked.resolve(undefined)
    return going.promise
  }
  host.fail({ kind: 'meanwhile', happens }, isCreation)

  function session<T>(
    head: string,
    token: string,
    work: (pulls: PullRequests) => Promise<T>,
    by: Partial<ApiCaller> = {},
  ): Promise<T> {
    const target = {
      host: provider as NonNullable<typeof provider>,
      baseURL: host.baseURL,
      // Hosts ignore its case.
      repository: token === 'b' ? ['Acme', 'Shop'] : ['acme', 'shop'],
      shown: 'https://git.example.com/acme/shop',
      branches: branchesOf(head),
      permit: () => undefined,
    }
    const login = { username: undefined, secret: token, identity: token, secrets: [token] }
    return use(target, { login, signal: NEVER, namespace: token, ...by }, work)
  }
  const draftOf = (head: string) => ({ branches: branchesOf(head), title: head, body: '', draft: false })
  return {
    model,
    asked: asked.promise,
    go: () => going.resolve(undefined),
    /** The next creation takes so long at the host, at least; resolves when it has come. */
    delayNext: (milliseconds: number): Promise<undefined> => {
      const come = Promise.withResolvers<undefined>()
      host.fail(
        {
          kind: 'meanwhile',
          happens() {
            come.resolve(undefined)
            return pause(milliseconds)
          },
        },
        isCreation,
      )
      return come.promise
    },
    session,
    create: (head: string, token: string, by: Partial<ApiCaller> = {}) =>
      session(head, token, (pulls) => pulls.create(draftOf(head)), by),
    creations: () =>
      host.seen.filter(({ method, path }) => isCreation(method, path)).map(({ status }) => status),
  }
}

t.test('for the same branches one is created at a time, and for others at once', async (t) => {
  const { model, asked, go, create, creations } = await stage(t)
  const first = create('x', 'a')
  await asked
  const second = create('x', 'b')
  t.match(await create('y', 'b'), { number: 1 })
  t.strictSame(creations(), [201], 'that of the other branches')
  go()
  t.match(await first, { number: 2 })
  t.equal(await second, 'exists')
  t.strictSame(creations(), [201, 201], 'it was searched for again, and found')
  t.equal(model.pulls.length, 2)
})

t.test('who waits for the creation of another leaves the turns of its token to others', async (t) => {
  const { asked, go, create, session } = await stage(t)
  const first = create('x', 'a')
  await asked
  const later = [create('x', 'b'), create('x', 'b'), create('x', 'b')]
  t.strictSame(await session('z', 'b', (pulls) => pulls.find(branchesOf('z'), 'open')), [])
  go()
  await first
  t.strictSame(await Promise.all(later), ['exists', 'exists', 'exists'])
})

t.test('of a namespace that only names the branches, two creations are waited for at most', async (t) => {
  const { asked, go, create, creations } = await stage(t)
  const by = { namespace: 'evil' }
  const evil = EVIL.map((token) => create('x', token, by).catch((error: unknown) => error))
  await asked
  const own = create('x', 'a')
  // A call of the others, so that all of them have come to the creation.
  await create('y', 'b')
  go()
  t.match(await own, { number: 2 })
  await Promise.all(evil)
  const [other, ...before] = creations()
  t.equal(other, 201)
  t.ok(before.indexOf(201) <= 2)
})

t.test(
  'of namespaces that name the branches again and again, one creation is waited for, however many they are',
  async (t) => {
    const { asked, go, delayNext, create, creations } = await stage(t)
    const tryAll = (): Promise<unknown>[] =>
      EVIL.map((token) => create('x', token).catch((error: unknown) => error))
    const earlier = tryAll()
    for (let i = 1; i < EVIL.length; i += 1) void delayNext(600)
    await asked
    await pause(600)
    go()
    await Promise.all(earlier)
    const next = delayNext(300)
    const evil = tryAll()
    await next
    t.match(await create('x', 'a'), { number: 1 })
    await Promise.all(evil)
    t.strictSame(creations().slice(EVIL.length), [403, 201])
  },
)

t.test('whose time is over while it waits sends nothing, and keeps nobody', async (t) => {
  const { asked, go, create, creations } = await stage(t)
  const first = create('x', 'a')
  await asked
  const time = new AbortController()
  const late = create('x', 'b', { signal: time.signal })
  await create('y', 'b')
  time.abort()
  await t.rejects(late, {
    name: 'Failure',
    reason: 'Timeout',
    message: /^The attempt ran out of time before/,
  })
  go()
  await first
  t.equal(await create('x', 'b'), 'exists')
  t.strictSame(creations(), [201, 201, 409])
})

t.test('the claim is confirmed after the wait, and nothing is sent without it', async (t) => {
  const { asked, go, create, creations } = await stage(t)
  const confirmed: string[] = []
  const remaining = (): number => 25_000
  const confirm = async (): Promise<void> => void confirmed.push('for the creation')
  const first = create('x', 'a', { claim: { confirm, remaining } })
  await asked
  t.strictSame(confirmed, ['for the creation'], 'there was no wait')
  const lost = new Failure('Conflict', 'Another attempt has taken over.')
  const second = create('x', 'b', { claim: { confirm: () => Promise.reject(lost), remaining } }).catch(
    (error: unknown) => error,
  )
  await create('y', 'b')
  go()
  await first
  t.equal(await second, lost)
  t.strictSame(creations(), [201, 201])
})

t.test('others wait for a claim for a moment, however slowly it is written', async (t) => {
  const { go, create, creations } = await stage(t)
  go()
  const late = new Failure('Conflict', 'The claim could not be renewed in time.')
  const confirm = (_afresh?: boolean, withinMs?: number): Promise<void> =>
    withinMs === 2_000 ? Promise.reject(late) : new Promise(() => undefined)
  const slow = create('x', 'a', { claim: { confirm, remaining: () => 25_000 } }).catch(
    (error: unknown) => error,
  )
  t.match(await create('x', 'b'), { number: 1 })
  t.equal(await slow, late)
  t.strictSame(creations(), [201])
})
