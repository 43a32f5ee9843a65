import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import type { PullRequests } from '../../functions/domain/pull-request/pull-requests.ts'
import type { HeldTurn } from '../../functions/domain/sharing/keyed-turns.ts'
import { openOneCreation } from '../../functions/pull-request/one-creation.ts'
import { pacedClock } from '../harness/paced-clock.ts'
import { CALL_MS, DRAFT, NEVER, part, SHOWN, stage } from './creations-stage.ts'

const EVERY_MS = 5_000

for (const { title, namespaces } of [
  {
    title: 'who names the branches of others with tokens that are busy for 10 s keeps them from little',
    namespaces: 1,
  },
  { title: 'ten namespaces with such tokens keep others from little', namespaces: 10 },
])
  t.test(title, async (t) => {
    const { again, goOn } = stage()
    const own = again({ owner: 'own', token: 'own', at: 'own', callMs: CALL_MS }, { everyMs: EVERY_MS })
    for (let n = 0; n < namespaces; n += 1) {
      for (const token of ['a', 'b', 'c', 'd'].map((name) => `${name}-${n}`)) {
        const evil = { owner: `evil-${n}`, token }
        for (const at of ['one', 'two']) again({ ...evil, at: `${at}-${token}`, callMs: 10_000 })
        again({ ...evil, at: 'own', callMs: CALL_MS })
      }
    }
    await goOn(300_000)
    t.ok(own.length >= 58, String(own.length))
    t.ok(part(own, 50) <= 1_000, String(part(own, 50)))
    t.ok(part(own, 90) <= 2_000, String(part(own, 90)))
    t.ok(part(own, 100) <= 3_000, String(part(own, 100)))
  })

t.test('where a place was left for want of a turn, there is still one pull request', async (t) => {
  const { open, again, wait, goOn, created } = stage()
  const tokens = ['a', 'b', 'c', 'd']
  for (const token of tokens)
    for (const at of ['one', 'two'])
      again({ owner: 'evil', token, at: `${at}-${token}`, callMs: 10_000 }, { afterMs: 2 * CALL_MS })
  const ended: string[] = []
  async function openAt(at: string): Promise<void> {
    const once = { at, callMs: CALL_MS, isOnce: true }
    const own = open({ ...once, owner: 'own', token: 'own' })
    await Promise.all([own, ...tokens.map((token) => open({ ...once, owner: 'evil', token }))])
    ended.push(at)
  }
  const places = Array.from({ length: 20 }, (_, n) => `own-${n}`)
  for (const [n, at] of places.entries()) void wait(n * 1_000).then(() => openAt(at))
  await goOn(1_200_000)
  t.strictSame(ended.toSorted(), places.toSorted())
  t.strictSame(
    places.map((at) => created.get(at)),
    places.map(() => 1),
  )
})

t.test('whose time is over while it waits for its turn with the place keeps nobody', async (t) => {
  const { open, wait, goOn } = stage()
  const time = new AbortController()
  const evil = { owner: 'evil', token: 'busy' }
  const late = open({ ...evil, at: 'own', callMs: CALL_MS, signal: time.signal }).catch(
    (error: unknown) => error,
  )
  for (const at of ['one', 'two']) void open({ ...evil, at, callMs: 10_000 })
  void open({ owner: 'first', token: 'first', at: 'own', callMs: 80 })
  await goOn(400)
  const took: number[] = []
  void open({ owner: 'own', token: 'own', at: 'own', callMs: CALL_MS }).then(() => took.push(1))
  void wait(300).then(() => time.abort())
  await goOn(690)
  t.equal(took.length, 0)
  await goOn(1_100)
  t.equal(took.length, 1)
  t.match(await late, { reason: 'Timeout', message: 'Late.' })
})

t.test(
  'nobody waits for a place with the turn of its token, and the second place is left later',
  async (t) => {
    const { elapsed, wait, goOn } = pacedClock()
    const withOneCreation = openOneCreation(elapsed, wait)
    const ended: string[] = []
    const turns = { held: true, comeBacks: [3_000, 1_500] }
    const turn: HeldTurn = {
      pass: () => Promise.resolve(false),
      keep: (work) => work(),
      leave: () => void (turns.held = false),
      comeBack: () => wait(turns.comeBacks.shift() ?? 0).then(() => void (turns.held = true)),
      without: (work) => work(),
      isKept: () => false,
    }
    const atOnce: HeldTurn = { ...turn, leave: () => undefined, comeBack: () => Promise.resolve() }

    function createAs(name: string, milliseconds: number, held = atOnce): void {
      const pulls: PullRequests = {
        find: () => Promise.resolve([]),
        read: () => Promise.resolve(undefined),
        create: () => wait(milliseconds).then(() => SHOWN),
        update: () => Promise.resolve(),
        add: () => Promise.resolve([]),
      }
      const session = {
        ...{ key: 'own', ownKey: undefined, creationReplaces: false, owner: name, turn: held },
        ...{ signal: NEVER, late: () => new Failure('Timeout', 'Late.') },
        reserve: () => Promise.resolve(() => undefined),
        confirm: () => Promise.resolve(),
      }
      void withOneCreation(session, pulls, (api) => api.create(DRAFT)).then(() => ended.push(name))
    }

    createAs('first', 500)
    await goOn(100)
    createAs('late', 100, turn)
    createAs('second', 3_500)
    await goOn(2_000)
    t.strictSame([ended, turns], [['first'], { held: false, comeBacks: [1_500] }])
    await goOn(4_000)
    t.equal(turns.held, false, 'it has come back while the second one is created')
    await goOn(5_200)
    createAs('third', 100)
    await goOn(8_000)
    t.strictSame(ended, ['first', 'second', 'late', 'third'])
  },
)
