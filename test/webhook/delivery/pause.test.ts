import t from 'tap'
import { makePause } from '../../../webhook/delivery/pause.ts'

const LONG = 3_600_000
const NEVER = new AbortController().signal

/** Milliseconds of this pause. */
async function took(paused: Promise<void>): Promise<number> {
  const began = performance.now()
  // The pause itself does not keep the process alive.
  const alive = setInterval(() => undefined, 1_000)
  await paused
  clearInterval(alive)
  return performance.now() - began
}

t.test('a pause lasts as long as it should, or until it is stopped', async (t) => {
  t.ok((await took(makePause().pause(20, 0, NEVER))) >= 15)
  const stop = new AbortController()
  const stopped = took(makePause().pause(LONG, LONG, stop.signal))
  stop.abort()
  t.ok((await stopped) < 5_000)
})

t.test(
  'one that is woken lasts for its least time, and the next one as long as it should again',
  async (t) => {
    const { pause, wake } = makePause()
    const woken = took(pause(LONG, 50, NEVER))
    wake()
    const milliseconds = await woken
    t.ok(milliseconds >= 40 && milliseconds < 5_000, `${milliseconds} ms`)
    t.ok((await took(pause(30, 0, NEVER))) >= 25)
  },
)

t.test('one that was woken before it began does not forget it', async (t) => {
  const { pause, wake } = makePause()
  wake()
  t.ok((await took(pause(LONG, 0, NEVER))) < 5_000)
})
