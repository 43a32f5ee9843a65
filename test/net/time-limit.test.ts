import t from 'tap'
import { collect } from '../harness/collect.ts'
import { anySignal } from '../../functions/domain/deadline.ts'
import { timeLimit } from '../../functions/net/time-limit.ts'
import { waitFor } from '../harness/wait.ts'

/** Waits until the limit is over; its own timer keeps no process alive. */
async function over(limit: AbortSignal): Promise<void> {
  await waitFor('end of the time', () => limit.aborted || undefined, 10_000)
}

t.test('it fires once the time is over, as a time limit', async (t) => {
  const limit = timeLimit(1)
  t.notOk(limit.aborted)
  await over(limit)
  t.match(limit.reason, { name: 'TimeoutError' })
})

t.test('of what is made of it nothing stays, though more is made of that', async (t) => {
  const made = Array.from({ length: 100 }, () => {
    const bounded = anySignal([timeLimit(1), new AbortController().signal])
    anySignal([bounded, new AbortController().signal])
    return new WeakRef(bounded)
  })
  await over(timeLimit(50))
  collect()
  t.equal(made.filter((one) => one.deref() !== undefined).length, 0)
})
