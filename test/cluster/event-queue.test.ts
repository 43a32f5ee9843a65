import t from 'tap'
import type { ApiAnswer, ApiCall } from '../../functions/cluster/api-server.ts'
import { openEventQueue } from '../../functions/cluster/event-queue.ts'
import { resource } from '../domain/fixtures/envelope.ts'

const CREATED: ApiAnswer = { status: 201, text: '{}' }

/** A queue before a server that answers when it is told to. */
function stage() {
  const calls: ApiCall[] = []
  const open: ((answer: ApiAnswer) => void)[] = []
  const queue = openEventQueue((call) => {
    calls.push(call)
    return new Promise((resolve) => open.push(resolve))
  })
  const record = (message: string): Promise<void> =>
    queue.recordEvent(resource(), { type: 'Normal', reason: 'Succeeded', message })
  /** Answers the calls that are open, and those that follow, until there are none. */
  async function answerAll(): Promise<void> {
    for (let answer = open.shift(); answer !== undefined; answer = open.shift()) {
      answer(CREATED)
      await settle()
    }
  }
  return { queue, record, calls, answerAll }
}

/** Lets everything run that waits for nothing outside. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Whether the promise is resolved by now. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  const open = settle().then(() => 'open')
  return (await Promise.race([promise.then(() => 'done'), open])) === 'done'
}

t.test('nobody waits for an Event but a flush, which waits for all', async (t) => {
  const { queue, record, calls, answerAll } = stage()
  t.ok(await isDone(queue.flushEvents()), 'there is nothing to flush')
  for (let index = 0; index < 20; index += 1) t.ok(await isDone(record(`number ${index}`)))
  t.equal(calls.length, 8, 'the other connections are for attempts')
  const flush = queue.flushEvents()
  t.notOk(await isDone(flush))
  await answerAll()
  t.ok(await isDone(flush))
  t.strictSame(
    calls.map(({ body }) => (body as { readonly note: string }).note),
    Array.from({ length: 20 }, (_, index) => `number ${index}`),
  )
})

t.test('where more than 1,024 wait, the caller waits for its own', async (t) => {
  const { record, answerAll } = stage()
  for (let index = 0; index < 8 + 1_024; index += 1) void record('')
  const late = record('')
  t.notOk(await isDone(late))
  await answerAll()
  t.ok(await isDone(late))
})

t.test('a server that does not take an Event, or is not there, changes nothing', async (t) => {
  const answers = [() => Promise.resolve({ status: 403, text: '' }), () => Promise.reject(new Error('away'))]
  for (const answer of answers) {
    const queue = openEventQueue(answer)
    await t.resolves(queue.recordEvent(resource(), { type: 'Warning', reason: 'Conflict', message: '' }))
    await t.resolves(queue.flushEvents())
  }
})
