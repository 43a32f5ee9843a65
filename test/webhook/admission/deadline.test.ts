import t from 'tap'
import { unlessAborted } from '../../../functions/domain/deadline.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { NO_TURN, withDeadline } from '../../../webhook/admission/deadline.ts'
import { shareThread, type ThreadTurns } from '../../../webhook/admission/thread-turns.ts'

function terms(milliseconds: number) {
  return { namespace: 'shop', inTurn: shareThread(() => 0), milliseconds }
}

t.test('work that ends in time gives its result', async (t) => {
  t.equal(await withDeadline(terms(1_000), async () => 'done'), 'done')
  t.equal(await withDeadline(terms(1_000), ({ inTurn }) => inTurn(() => 'done')), 'done')
  const bug = new TypeError('a bug')
  await t.rejects(
    withDeadline(terms(1_000), () => Promise.reject(bug)),
    bug,
  )
})

t.test('work that does not is a Timeout, and its late end is ignored', async (t) => {
  const { promise, reject } = Promise.withResolvers<never>()
  await t.rejects(
    withDeadline(terms(1), () => promise),
    new Failure('Timeout', 'The API server did not answer within 1 ms.'),
  )
  reject(new Error('late'))
})

t.test('work that is given up ends at once, says why, and has no further turns', async (t) => {
  const ending = new AbortController()
  const why = new Failure('Timeout', 'Others need the room.')
  const { promise, resolve } = Promise.withResolvers<AbortSignal>()
  const waiting = withDeadline({ ...terms(60_000), givenUp: ending.signal }, ({ signal }) => {
    resolve(signal)
    return new Promise<never>(() => undefined)
  })
  const signal = await promise
  t.notOk(signal.aborted)
  ending.abort(why)
  await t.rejects(waiting, why)
  t.ok(signal.aborted)
})

t.test(
  'what gets no turn in time is not begun, and says that its namespace has too much in hand',
  async (t) => {
    // As behind works that take longer.
    const inTurn: ThreadTurns = (_namespace, signal) => unlessAborted(new Promise(() => undefined), signal)
    const late = Promise.withResolvers<unknown>()
    const waiting = withDeadline({ ...terms(1), inTurn }, (timed) => {
      const turn = timed.inTurn(() => undefined)
      turn.catch(late.resolve)
      return turn
    })
    await t.rejects(waiting, new Failure('Timeout', NO_TURN))
    t.match(await late.promise, { name: 'AbortError' }, 'it does not wait any more')
  },
)
