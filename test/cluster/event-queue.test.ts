import t from 'tap'
import type { ApiAnswer, ApiCall } from '../../functions/cluster/api-server.ts'
import { openEventQueue } from '../../functions/cluster/event-queue.ts'
import type { Envelope } from '../../functions/domain/resource/resource.ts'
import { resource } from '../domain/fixtures/envelope.ts'

const CREATED: ApiAnswer = { status: 201, text: '{}' }

/** A queue before a server that answers when it is told to. */
function stage() {
  const calls: ApiCall[] = []
  const open: ((answer: ApiAnswer) => void)[] = []
  const queue = openEventQueue((call) => {
    calls.push(call)
    return new Promise((resolve) => open.push(resolve))
  }, clock)
  const record = (message: string, namespace = 'team'): Promise<void> =>
    queue.recordEvent(inNamespace(namespace), { type: 'Normal', reason: 'Succeeded', message })
  /** Answers the first of the calls that are open. */
  async function answerOne(): Promise<void> {
    open.shift()?.(CREATED)
    await settle()
  }
  /** Answers the calls that are open, and those that follow, until there are none. */
  async function answerAll(): Promise<void> {
    while (open.length > 0) await answerOne()
  }
  const notes = (): readonly string[] => calls.map(({ body }) => (body as { readonly note: string }).note)
  return { queue, record, notes, answerOne, answerAll }
}

function inNamespace(namespace: string): Envelope {
  const made = resource()
  return { ...made, metadata: { ...made.metadata, namespace } }
}

function clock(): number {
  return 0
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
  const { queue, record, notes, answerAll } = stage()
  t.ok(await isDone(queue.flushEvents()), 'there is nothing to flush')
  for (let index = 0; index < 20; index += 1) t.ok(await isDone(record(`number ${index}`)))
  t.equal(notes().length, 2, 'the other places are for other namespaces')
  const flush = queue.flushEvents()
  t.notOk(await isDone(flush))
  await answerAll()
  t.ok(await isDone(flush))
  t.strictSame(
    notes(),
    Array.from({ length: 20 }, (_, index) => `number ${index}`),
  )
})

t.test('eight Events are sent at once, whoever has how many of them', async (t) => {
  const { record, notes } = stage()
  for (let index = 0; index < 100; index += 1) void record('', `team-${index % 10}`)
  await settle()
  t.equal(notes().length, 8, 'the other connections are for attempts')
})

t.test('an Event waits for two of each other namespace at most, however many these have', async (t) => {
  const { record, notes, answerOne } = stage()
  for (let index = 0; index < 1_000; index += 1) void record('theirs', `theirs-${index % 10}`)
  void record('mine', 'mine')
  await settle()
  for (let answers = 0; answers < 20 && !notes().includes('mine'); answers += 1) await answerOne()
  t.ok(notes().includes('mine'))
})

t.test(
  'where very many Events of a namespace wait, its callers wait for their own, and no others do',
  async (t) => {
    const { record, answerAll } = stage()
    for (let index = 0; index < 512; index += 1) t.ok(await isDone(record('')))
    const late = record('')
    t.notOk(await isDone(late))
    t.ok(await isDone(record('', 'another')))
    await answerAll()
    t.ok(await isDone(late))
  },
)

t.test(
  'where very many Events of ten namespaces wait, a few of each other one keep nobody waiting',
  async (t) => {
    const { record } = stage()
    for (let team = 0; team < 10; team += 1)
      for (let index = 0; index < 513; index += 1) void record('', `team-${team}`)
    for (const name of ['other', 'another'])
      for (let index = 0; index < 8; index += 1) t.ok(await isDone(record('', name)))
  },
)

t.test('a server that does not take an Event, or is not there, changes nothing', async (t) => {
  const answers = [() => Promise.resolve({ status: 403, text: '' }), () => Promise.reject(new Error('away'))]
  for (const answer of answers) {
    const queue = openEventQueue(answer, clock)
    await t.resolves(queue.recordEvent(resource(), { type: 'Warning', reason: 'Conflict', message: '' }))
    await t.resolves(queue.flushEvents())
  }
})
