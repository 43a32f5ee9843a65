import t from 'tap'
import { shareHandshakes } from '../../../functions/attempt/turns/thread/handshake-share.ts'
import { makeTogether } from '../../../functions/attempt/turns/thread/long-works.ts'
import { shareThread } from '../../../functions/attempt/turns/thread/thread-share.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { AUTHORITY, call, serve, urlOf } from '../../http/stage.ts'
import { makeSlowCertificate } from '../../harness/slow-certificates.ts'

const { signal } = new AbortController()
const SLOW = { name: 'Failure', reason: 'Timeout', message: /certificates of a host .* take long to check/ }

/** A clock on which only work takes time, of the processor or of others. */
function stage() {
  let [now, taken] = [0, 0]
  const nextTurn = (): Promise<void> => Promise.resolve()
  const pause = async (milliseconds: number): Promise<void> => void (now += milliseconds)
  const elapsed = (): number => now
  const shares = shareThread(makeTogether(elapsed), { elapsed, nextTurn, pause })
  const handshakes = shareHandshakes(shares, { elapsed, taken: () => taken })
  return {
    /** `others`: how long others have the processor meanwhile. */
    run: (
      namespace: string,
      took: number,
      { isUrgent = false, others = 0, from = handshakes.workFor } = {},
    ): Promise<void> =>
      from(
        namespace,
        () => {
          now += took + others
          taken += took
        },
        signal,
        isUrgent,
      ),
    withOperatorsLogin: handshakes.withOperatorsLogin,
    mustWait: handshakes.mustWait,
    pass: (milliseconds: number) => void (now += milliseconds),
  }
}

t.test(
  'a namespace whose handshakes are slow has a small share of them, and others have theirs',
  async (t) => {
    const { run, pass } = stage()
    await run('slow', 150)
    await t.rejects(run('slow', 1), SLOW)
    await t.rejects(run('slow', 1, { isUrgent: true }), SLOW, 'also where others wait')
    await run('other', 150)
    // It has taken 40 ms too much, and gets 2 back in a second: a tenant may have many namespaces.
    pass(18_700)
    await t.rejects(run('slow', 1), SLOW)
    pass(1_300)
    await run('slow', 1)
  },
)

t.test('of those that begin together, none goes on after the one that has used the share up', async (t) => {
  const { run } = stage()
  const all = await Promise.allSettled(Array.from({ length: 8 }, () => run('slow', 150)))
  t.equal(all.filter(({ status }) => status === 'fulfilled').length, 1)
})

t.test(
  'usual handshakes count only in the usual share, however long others have the processor',
  async (t) => {
    const { run, pass, mustWait } = stage()
    for (let handshakes = 0; handshakes < 500; handshakes += 1) {
      await run('usual', 10, { others: 0 })
      pass(50)
    }
    await run('usual', 3, { others: 390 })
    await run('usual', 3, { others: 390 })
    t.ok(mustWait('usual'))
    pass(4_000)
    await run('usual', 3)
  },
)

t.test("with the operator's login they are only counted in the usual share", async (t) => {
  const { run, pass, withOperatorsLogin, mustWait } = stage()
  for (let handshakes = 0; handshakes < 10; handshakes += 1)
    await run('team', 150, { from: withOperatorsLogin })
  t.ok(mustWait('team'))
  pass(10_000)
  await run('team', 3)
})

t.test(
  'a host with certificates that take long to check is refused to its namespace, and to no other',
  async (t) => {
    const by = { ...AUTHORITY, issue: () => Promise.resolve(makeSlowCertificate()) }
    const slow = urlOf(await serve(t, (_request, response) => response.end(), { by }))
    const usual = urlOf(await serve(t, (_request, response) => response.end()))
    const { workFor } = shareHandshakes(shareThread())
    const callBy = (namespace: string, url: string): ReturnType<typeof call> =>
      call(url, { settings: { share: (work) => workFor(namespace, work, signal) } })
    const reasons: string[] = []
    while (reasons.at(-1) !== 'Timeout' && reasons.length < 20) {
      const answer = await callBy('slow', slow)
      reasons.push(answer instanceof Failure ? answer.reason : 'answered')
    }
    t.equal(reasons.at(-1), 'Timeout')
    t.ok(reasons.length > 1)
    t.match(await callBy('slow', usual), SLOW)
    t.notOk((await callBy('other', usual)) instanceof Failure)
  },
)
