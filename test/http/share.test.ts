import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { HandshakeShares, Share } from '../../functions/domain/network/share.ts'
import { openHTTP } from '../../functions/http/http.ts'
import { atOnce, callInShare, inShareOf, shareOfHandshakes } from '../../functions/http/share.ts'
import { servePlainly, SETTINGS } from './stage.ts'

const { signal } = new AbortController()

for (const { title, mustWait, isKept, ofOperator, expected } of [
  { title: 'a namespace with something left', expected: ['waits for its share'] },
  { title: 'one that has to wait', mustWait: true, expected: ['leaves', 'waits for its share'] },
  { title: 'others wait for the turn', mustWait: true, isKept: true, expected: ['is counted'] },
  { title: "the operator's login", mustWait: true, ofOperator: true, expected: ['is counted'] },
] as const)
  t.test(`a handshake of an API, ${title}: ${expected.join(' and ')}`, async (t) => {
    const done: string[] = []
    const handshakes: HandshakeShares = {
      workFor: async (namespace, work, _signal, isUrgent = false) => {
        t.equal(namespace, 'team')
        done.push(isUrgent ? 'is counted' : 'waits for its share')
        return work()
      },
      withOperatorsLogin: async (_namespace, work) => (done.push('is counted'), work()),
      mustWait: () => mustWait === true,
    }
    const turn = {
      isKept: () => isKept === true,
      without: <T>(work: () => Promise<T>) => (done.push('leaves'), work()),
    }
    const share = shareOfHandshakes({ handshakes }, { namespace: 'team', signal, ofOperator, turn })
    t.equal(await share(() => 'read'), 'read')
    t.strictSame(done, expected)
  })

t.test('handshakes that have taken long wait for their share while the turn is kept', async (t) => {
  const urgent: boolean[] = []
  const handshakes: HandshakeShares = {
    workFor: (_namespace, work, _signal, isUrgent = false) => {
      urgent.push(isUrgent)
      return Promise.resolve().then(work)
    },
    withOperatorsLogin: (_namespace, work) => Promise.resolve().then(work),
    mustWait: () => false,
  }
  const turn = { isKept: () => true, without: <T>(work: () => Promise<T>) => work() }
  const share = shareOfHandshakes({ handshakes }, { namespace: 'team', signal, ofOperator: undefined, turn })
  const until = (end: number): void => {
    while (performance.now() < end);
  }
  await share(() => until(performance.now() + 60))
  await share(() => undefined)
  t.strictSame(urgent, [true, false])
})

t.test('a call counts when it begins, and what it sends', async (t) => {
  const counted: number[] = []
  const count = (milliseconds: number): void => void counted.push(milliseconds)
  const call = callInShare(async () => new Response(), atOnce, { count })
  const bytes = 10 * 1024 * 1024
  for (const body of [undefined, 'x'.repeat(bytes), { bytes, pieces: () => [] }])
    await call('https://git.example.com/', { method: 'POST', headers: {}, ...(body && { body }) })
  t.strictSame(counted, [0.5, 20.5, 20.5])
})

t.test('a call begins in the share, and each 256 KiB of its answer wait for it', async (t) => {
  const place = await servePlainly(t, (_request, response) => response.end(Buffer.alloc(1024 * 1024)))
  const url = `http://git.example.com:${place.port}/`
  const settings = { ...SETTINGS, insecureHosts: [{ host: 'git.example.com', port: place.port }] }
  let times = 0
  const share: Share = (work) => {
    times += 1
    return atOnce(work)
  }
  const bytes = await openHTTP(settings)(url, signal, async (fetch) => {
    const call = callInShare(fetch, share, { count: () => undefined })
    return (await call(url, { method: 'GET', headers: {} })).bytes()
  })
  t.equal(bytes.length, 1024 * 1024)
  t.ok(times >= 4 && times <= 5, `${times} times`)
})

t.test('a call that fails while its answer waits for the share ends once that wait has ended', async (t) => {
  const shared = Promise.withResolvers<undefined>()
  let times = 0
  // Whoever waits for it may have left its turn, and takes it again afterwards.
  const share: Share = async (work) => {
    times += 1
    if (times > 1) await shared.promise
    return atOnce(work)
  }
  const call = callInShare(
    (_url, { readOn }) => {
      void readOn?.()
      return Promise.reject(new Error('reset'))
    },
    share,
    { count: () => undefined },
  )
  let isOver = false
  const calling = call('https://git.example.com/', { method: 'GET', headers: {} }).finally(
    () => (isOver = true),
  )
  const ending = t.rejects(calling, { message: 'reset' })
  await setImmediate()
  t.notOk(isOver)
  shared.resolve(undefined)
  await ending
})

t.test("names of an API are in the share of the namespace, with the operator's login in none", async (t) => {
  const named: unknown[] = []
  const resolve = async (_host: string, _port: number, _signal: AbortSignal, namespace?: string) => {
    named.push(namespace)
    return []
  }
  const turn = { isKept: () => false, without: <T>(work: () => Promise<T>) => work() }
  for (const ofOperator of [undefined, true]) {
    const shared = inShareOf({ resolve }, { namespace: 'team', signal, ofOperator, turn })
    await shared.resolve('git.example.com', 443, signal)
  }
  t.strictSame(named, ['team', undefined])
})
