import t from 'tap'
import { openSpanQueue, type QueueTimes, type Sent } from '../../functions/telemetry/span-queue.ts'
import type { EndedSpan } from '../../functions/telemetry/tracer.ts'
import { recordingMeter } from '../harness/recording-meter.ts'
import { waitFor } from '../harness/wait.ts'

const SPAN: EndedSpan = {
  name: 'push',
  context: { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), sampled: true },
  parentSpanId: undefined,
  startMs: 1,
  endMs: 2,
  attributes: {},
  links: [],
  failed: false,
}
const QUICK: QueueTimes = { gatherMs: 5, firstPauseMs: 1, closeMs: 50 }

/** A queue before a collector that answers so, the last answer again and again; a promise is waited for. */
function stage(answers: readonly (Sent | Promise<Sent>)[], times: Partial<QueueTimes> = {}) {
  const { meter, recorded } = recordingMeter()
  const sizes: number[] = []
  const problems: (string | undefined)[] = []
  const queue = openSpanQueue({
    async send(spans, signal) {
      sizes.push(spans.length)
      const answer = answers[Math.min(sizes.length, answers.length) - 1]
      const aborted = Promise.withResolvers<Sent>()
      signal.addEventListener('abort', () => aborted.resolve({ outcome: 'again', cause: 'AbortError' }))
      return Promise.race([answer ?? ACCEPTED, aborted.promise])
    },
    meter,
    changed: (problem) => problems.push(problem),
    times: { ...QUICK, ...times },
  })
  const counted = (outcome: string): number =>
    recorded.reduce((sum, [, labels, value]) => (labels['outcome'] === outcome ? sum + value : sum), 0)
  const add = (count: number): void => {
    for (let spans = 0; spans < count; spans += 1) queue.add(SPAN)
  }
  const counts = () => ['sent', 'failed', 'dropped'].map(counted)
  const all = (total: number) =>
    waitFor('the end', () => (counts().reduce((a, b) => a + b) === total ? true : undefined), 10_000)
  return { queue, add, sizes, problems, counts, all }
}

const ACCEPTED: Sent = { outcome: 'accepted' }
const HANGING = new Promise<Sent>(() => undefined)
const FULL: Sent = { outcome: 'again', cause: 'status 503' }

t.test('spans that end together are sent together', async (t) => {
  const { add, all, sizes, counts, problems, queue } = stage([ACCEPTED])
  add(3)
  await all(3)
  add(2)
  await all(5)
  t.strictSame(sizes, [3, 2])
  t.strictSame([counts(), problems], [[5, 0, 0], []])
  await queue.close()
})

t.test('many are not gathered for long, and 512 are sent at once', async (t) => {
  const { add, all, sizes, queue } = stage([ACCEPTED], { gatherMs: 3_600_000 })
  add(512)
  await all(512)
  add(600)
  await queue.close()
  t.strictSame(sizes, [512, 512, 88])
})

t.test('a collector that hangs keeps 2,048 spans waiting and no more', async (t) => {
  const { add, counts, sizes, queue } = stage([HANGING])
  add(512)
  add(10_000)
  t.strictSame(sizes, [512])
  t.strictSame(counts(), [0, 0, 10_000 - 2_048])
  await queue.close()
  t.strictSame(counts(), [0, 512, 10_000], 'the end does not wait for it')
  add(1)
  t.strictSame(counts(), [0, 512, 10_001], 'after the end')
})

t.test('what was not taken is sent again, five times at most, and the log is told twice', async (t) => {
  const { add, all, counts, problems, sizes, queue } = stage([FULL, FULL, ACCEPTED])
  add(1)
  await all(1)
  t.strictSame([counts(), sizes.length], [[1, 0, 0], 3])
  t.strictSame(problems, ['status 503', undefined])
  await queue.close()
  const never = stage([FULL])
  never.add(1)
  await never.all(1)
  t.strictSame([never.counts(), never.sizes.length], [[0, 1, 0], 5])
  await never.queue.close()
})

t.test('what the collector does not understand is not sent again', async (t) => {
  const { add, all, sizes, counts, queue } = stage([{ outcome: 'refused', cause: 'status 400' }])
  add(1)
  await all(1)
  t.strictSame([sizes.length, counts()], [1, [0, 1, 0]])
  await queue.close()
})

t.test('the end of the program waits neither for a pause that the collector asked for', async (t) => {
  const { add, sizes, counts, queue } = stage([{ ...FULL, retryAfterMs: 3_600_000 }], { closeMs: 3_600_000 })
  add(1)
  await waitFor('the first request', () => (sizes.length === 1 ? true : undefined), 10_000)
  add(1)
  await queue.close()
  t.strictSame(counts(), [0, 2, 0])
})
