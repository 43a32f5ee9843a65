import t from 'tap'
import { openFairTurns } from '../functions/fair-turns.ts'

const NEVER = new AbortController().signal

t.test('one work runs at a time, and owners take turns however much one of them asks for', async (t) => {
  const inTurn = openFairTurns()
  const order: string[] = []
  const busy = Promise.withResolvers<undefined>()
  let running = 0
  const work = (owner: string, until?: Promise<unknown>) =>
    inTurn(owner, NEVER, async () => {
      running += 1
      t.equal(running, 1)
      await until
      order.push(owner)
      running -= 1
    })
  const all = [work('a', busy.promise), work('a'), work('a'), work('b'), work('a'), work('b'), work('c')]
  busy.resolve(undefined)
  await Promise.all(all)
  t.equal(order.join(''), 'aabcaba')
})

t.test('a failure passes the turn on', async (t) => {
  const inTurn = openFairTurns()
  const failed = inTurn('a', NEVER, () => Promise.reject(new Error('no')))
  const next = inTurn('b', NEVER, () => Promise.resolve('yes'))
  await t.rejects(failed, /no/)
  t.equal(await next, 'yes')
  t.equal(await inTurn('a', NEVER, () => Promise.resolve('again')), 'again')
})

t.test('whoever gives up leaves the queue', async (t) => {
  const inTurn = openFairTurns()
  const busy = Promise.withResolvers<undefined>()
  const first = inTurn('a', NEVER, () => busy.promise)
  const abort = new AbortController()
  let isRun = false
  const given = [1, 2].map(() => inTurn('b', abort.signal, async () => void (isRun = true)))
  const last = inTurn('b', NEVER, () => Promise.resolve('last'))
  abort.abort(new Error('gone'))
  for (const one of given) await t.rejects(one, /gone/)
  busy.resolve(undefined)
  await first
  t.equal(await last, 'last')
  await t.rejects(
    inTurn('b', abort.signal, () => Promise.resolve()),
    /gone/,
  )
  t.notOk(isRun)
})

t.test('next is who has taken the least time', async (t) => {
  let now = 0
  const inTurn = openFairTurns(10_000, () => now)
  const order: string[] = []
  const work = (owner: string, took: number) =>
    inTurn(owner, NEVER, async () => {
      await Promise.resolve()
      now += took
      order.push(owner)
    })
  await Promise.all([
    work('a', 5_000),
    work('a', 5_000),
    work('b', 5_000),
    work('b', 1),
    work('c', 1),
    work('c', 1),
  ])
  t.equal(order.join(''), 'abccab')
  now += 60_000
  await Promise.all([work('d', 1), work('a', 1), work('d', 1), work('a', 1)])
  t.equal(order.join(''), 'abccabdada', 'what was long ago is forgotten')
})

t.test('whoever needs less goes first, however many need more, and what it takes counts', async (t) => {
  let now = 0
  const inTurn = openFairTurns(10_000, () => now)
  const order: string[] = []
  const work = (owner: string, took: number) =>
    inTurn(
      owner,
      NEVER,
      async () => {
        await Promise.resolve()
        now += took
        order.push(owner)
      },
      took,
    )
  await work('d', 3_000)
  now += 4_000
  await Promise.all([
    work('a', 6_000),
    work('b', 6_000),
    work('c', 6_000),
    work('d', 2_000),
    work('d', 2_000),
  ])
  t.equal(order.join(''), 'daddbc')
})
