import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import type { Fetch, PullRequests } from '../../functions/domain/pull-request/pull-requests.ts'
import { inTurns, reserveWithoutTurn } from '../../functions/pull-request/calls-in-turns.ts'
import { BITBUCKET } from '../harness/hosts/bitbucket.ts'
import { GITEA } from '../harness/hosts/gitea.ts'
import type { HostServer } from '../harness/hosts/host-server.ts'
import { addPull, memoryModel } from '../harness/hosts/model.ts'
import { BRANCHES, callHost } from './called-host.ts'

const { signal } = new AbortController()

t.test(
  'a namespace that calls without end keeps another one with the same token from one call each',
  async (t) => {
    const model = memoryModel({ repository: ['acme', 'shop'] })
    model.branches.set('x', 3)
    const { use, target, login } = await callHost(t, model, {
      dialect: GITEA,
      name: 'gitea',
      shown: 'https://git.example.com/acme/shop',
    })
    const session = <T>(namespace: string, work: (pulls: PullRequests) => Promise<T>): Promise<T> =>
      use(target, { login, signal, namespace }, work)
    let isOver = false
    const begun = Promise.withResolvers<undefined>()
    const evil = Array.from({ length: 8 }, () =>
      session('evil', async (pulls) => {
        do {
          await pulls.find(BRANCHES, 'open')
          begun.resolve(undefined)
        } while (!isOver)
      }),
    )
    await begun.promise
    const created = await session('team', async (pulls) => {
      await pulls.find(BRANCHES, 'open')
      return pulls.create({ branches: BRANCHES, title: 'Settings', body: '', draft: false })
    })
    isOver = true
    t.match(created, { number: 1 })
    await Promise.all(evil)
  },
)

t.test('calls of a namespace that take long keep another one with the same token from none', async (t) => {
  const model = memoryModel({ repository: ['acme', 'shop'] })
  model.branches.set('x', 3)
  const { host, use, target, login } = await callHost(t, model, {
    dialect: GITEA,
    name: 'gitea',
    shown: 'https://git.example.com/acme/shop',
  })
  const answer = Promise.withResolvers<undefined>()
  const both = Promise.withResolvers<undefined>()
  let calls = 0
  const happens = (): Promise<void> => {
    calls += 1
    if (calls === 2) both.resolve(undefined)
    return answer.promise
  }
  const find = (namespace: string): Promise<unknown> =>
    use(target, { login, signal, namespace }, (pulls) => pulls.find(BRANCHES, 'open'))
  for (let i = 0; i < 2; i += 1) host.fail({ kind: 'meanwhile', happens })
  const slow = [find('evil'), find('evil'), find('evil')]
  await both.promise
  await find('team')
  t.equal(calls, 2)
  answer.resolve(undefined)
  await Promise.all(slow)
})

const UUID = '{01234567-89ab-cdef-0123-456789abcd0'
const STRANGERS = Array.from({ length: 6 }, (_, n) => `stranger-${n}`)

for (const { served, detail, known, other, strangers } of [
  {
    served: { dialect: GITEA, name: 'gitea', shown: 'https://git.example.com/acme/shop' },
    detail: 'assignees',
    known: 'dev',
    other: 'ops',
    strangers: STRANGERS,
  },
  {
    served: { dialect: BITBUCKET, name: 'bitbucket', shown: 'https://bitbucket.org/acme/shop' },
    detail: 'reviewers',
    known: `${UUID}1}`,
    other: `${UUID}2}`,
    strangers: STRANGERS.map((_, n) => `${UUID}${n + 3}}`),
  },
] as const)
  t.test(
    `between the people whom ${served.name} is asked for one by one others call, and who they add stays`,
    async (t) => {
      const model = memoryModel({ repository: ['acme', 'shop'], people: [known, other] })
      model.branches.set('x', 3)
      const pulls = ['one', 'two'].map((title) => addPull(model, { ...BRANCHES, title }))
      // Each call takes 300 ms.
      const clock = ({ seen }: HostServer): number => seen.length * 300
      const { host, use, target, login } = await callHost(t, model, served, { clock })
      const isChange = (method: string): boolean => method === 'PATCH' || method === 'PUT'
      const team = Promise.withResolvers<number>()
      const changesUntilThen = (): number => host.seen.filter(({ method }) => isChange(method)).length

      const find = (): Promise<unknown> =>
        use(target, { login, signal, namespace: 'team' }, async (api) => {
          team.resolve(changesUntilThen())
          for (const pull of pulls) pull[detail].push(other)
          return api.find(BRANCHES, 'open')
        })
      const found = Promise.withResolvers<unknown>()
      const happens = (): Promise<void> => {
        found.resolve(find())
        return Promise.resolve()
      }
      host.fail({ kind: 'meanwhile', happens }, isChange)
      const adding = pulls.map(({ number }) =>
        use(target, { login, signal, namespace: `evil-${number}` }, (api) =>
          api.add(number, detail, [...strangers, known]),
        ),
      )
      t.ok((await team.promise) <= 4, 'one change of each, and what has begun')
      await found.promise
      for (const said of await Promise.all(adding)) t.equal(said.length, strangers.length)
      for (const pull of pulls) t.strictSame(pull[detail].toSorted(), [known, other].toSorted())
    },
  )

t.test('every call that changes something is sent with a confirmed claim, or not at all', async (t) => {
  const done: string[] = []
  const fetch: Fetch = (_url, { method, mayBegin }) => {
    done.push(method)
    t.equal(mayBegin?.(), method === 'GET' ? undefined : left > 0, 'a connection may take long')
    return Promise.resolve(new Response())
  }
  let left = 1
  let hasWaited = false
  const turn = {
    pass: () => Promise.resolve(hasWaited),
    keep: <T>(work: () => Promise<T>) => work(),
    leave: () => undefined,
    comeBack: () => Promise.resolve(),
    without: <T>(work: () => Promise<T>) => work(),
    isKept: () => false,
  }
  const lost = new Failure('Conflict', 'Another attempt has taken over.')
  let isLost = false
  const confirm = (): Promise<void> => {
    done.push('confirm')
    return isLost ? Promise.reject(lost) : Promise.resolve()
  }
  const called = inTurns(fetch, turn, { confirm, remaining: () => left })
  hasWaited = true
  const call = (method: string): Promise<unknown> =>
    called('https://git.example.com', { method, headers: {} })
  await call('POST')
  await call('GET')
  await call('POST')
  await call('GET')
  hasWaited = false
  await call('GET')
  await call('PATCH')
  await call('PATCH')
  hasWaited = true
  await call('PUT')
  left = 0
  await call('PATCH')
  isLost = true
  await t.rejects(call('POST'), lost)
  t.strictSame(done, [
    ...['confirm', 'POST', 'GET', 'confirm', 'POST', 'GET', 'GET'],
    ...['confirm', 'PATCH', 'confirm', 'PATCH', 'confirm', 'PUT', 'confirm', 'PATCH'],
    'confirm',
  ])
})

t.test('a turn is passed on before a reservation, and left where that has to wait', async (t) => {
  const done: string[] = []
  const turn = {
    pass: () => Promise.resolve(done.push('pass') > 0),
    without: <T>(work: () => Promise<T>) => (done.push('leave'), work()),
  }
  const release = (): void => undefined
  t.equal(await reserveWithoutTurn(() => release, turn)(), release)
  t.strictSame(done.splice(0), ['pass'])
  t.equal(await reserveWithoutTurn(() => Promise.resolve(release), turn)(), release)
  t.strictSame(done, ['pass', 'leave'])
})

t.test('a claim that is lost while a host reads a pull request keeps old words from it', async (t) => {
  const person = '{01234567-89ab-cdef-0123-456789abcdef}'
  const model = memoryModel({ repository: ['acme', 'shop'], people: [person] })
  model.branches.set('x', 3)
  const { host, use, target, login } = await callHost(t, model, {
    dialect: BITBUCKET,
    name: 'bitbucket',
    shown: 'https://bitbucket.org/acme/shop',
  })
  const lost = new Failure('Conflict', 'Another attempt has taken over.')
  let isLost = false
  const confirm = (): Promise<void> => (isLost ? Promise.reject(lost) : Promise.resolve())
  const claim = { confirm, remaining: () => 25_000 }
  const session = <T>(work: (pulls: PullRequests) => Promise<T>): Promise<T> =>
    use(target, { login, signal, namespace: 'team', claim }, work)
  const shown = await session((pulls) =>
    pulls.create({ branches: BRANCHES, title: 'first', body: '', draft: false }),
  )
  if (shown === 'exists') throw new Error('There is one.')
  const writes: readonly ((pulls: PullRequests) => Promise<unknown>)[] = [
    (pulls) => pulls.update(shown, { title: 'second', body: '' }),
    (pulls) => pulls.add(shown.number, 'reviewers', [person]),
  ]
  for (const write of writes) {
    isLost = false
    const happens = (): Promise<void> => Promise.resolve(void (isLost = true))
    host.fail({ kind: 'meanwhile', happens }, (method) => method === 'GET')
    await t.rejects(session(write), lost)
  }
  t.match(model.pulls, [{ title: 'first', reviewers: [] }])
  t.same(
    host.seen.filter(({ method }) => method !== 'GET').map(({ method }) => method),
    ['POST'],
  )
})
