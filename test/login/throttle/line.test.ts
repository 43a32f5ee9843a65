import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { openLine } from '../../../functions/login/throttle/line.ts'

t.test('one is woken at a time, in the order of the tickets, and none that has given up', async (t) => {
  const line = openLine()
  const woken: number[] = []
  const { signal } = new AbortController()
  const late = (cause: unknown): unknown => cause
  const wait = async (ticket: number, until = signal): Promise<void> => {
    await line.wait(ticket, until, late)
    woken.push(ticket)
  }
  const giving = new AbortController()
  const gone = t.rejects(wait(2, giving.signal), { message: 'over' })
  const all = [wait(3), wait(1), wait(4)]
  giving.abort(new Error('over'))
  await gone
  line.wakeNext()
  await setImmediate()
  t.same(woken, [1])
  all.push(wait(1))
  for (let times = 0; times < 4; times += 1) line.wakeNext()
  await Promise.all(all)
  t.same(woken, [1, 1, 3, 4])
})
