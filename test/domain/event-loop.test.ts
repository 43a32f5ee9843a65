import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { watchEventLoop, type DelayHistogram, type Stall } from '../../functions/domain/event-loop.ts'
import { waitFor } from '../harness/wait.ts'

/** A histogram with these figures, in milliseconds from one tick to the next. */
function histogram(figures: { max: number; mean?: number; p99?: number }): DelayHistogram {
  return {
    get max() {
      return figures.max * 1e6
    },
    mean: (figures.mean ?? 0) * 1e6,
    percentile: () => (figures.p99 ?? 0) * 1e6,
    enable: () => true,
    reset: () => void (figures.max = 0),
  }
}

t.test('a loop that stands still is seen, with what was in hand', async (t) => {
  const stalls: Stall[] = []
  let names: readonly string[] = []
  const watch = watchEventLoop(
    monitorEventLoopDelay,
    () => names,
    (stall) => stalls.push(stall),
  )
  const look = async (): Promise<Stall | undefined> => {
    await pause(30)
    names = ['GitCommit shop/config']
    watch.look()
    names = []
    const began = performance.now()
    while (performance.now() - began < 200);
    // The tick that measures it, unless the machine is busy.
    await pause(30)
    watch.look()
    return stalls.find(({ milliseconds, inHand }) => milliseconds > 150 && inHand.length > 0)
  }
  const seen = await waitFor('the stall', look, 10_000)
  t.ok(seen.milliseconds < 10_000)
  t.match(seen.inHand, ['GitCommit shop/config'], 'though it has ended meanwhile')
  t.ok(watch.figures().max > 150)
})

t.test('100 ms are no stall, and one is reported once', async (t) => {
  const figures = { max: 110 }
  const stalls: Stall[] = []
  const watch = watchEventLoop(
    () => histogram(figures),
    () => [],
    (stall) => stalls.push(stall),
  )
  watch.look()
  t.same(stalls, [])
  figures.max = 111
  watch.look()
  watch.look()
  t.same(stalls, [{ milliseconds: 101, inHand: [], count: 0 }])
})

t.test('of many names ten are shown, each once', async (t) => {
  const figures = { max: 500 }
  const stalls: Stall[] = []
  const names = Array.from({ length: 64 }, (_, i) => `GitCommit shop/${i}`)
  const watch = watchEventLoop(
    () => histogram(figures),
    () => names,
    (stall) => stalls.push(stall),
  )
  watch.look()
  figures.max = 500
  watch.look()
  t.equal(stalls[1]?.count, 64)
  t.same(stalls[1]?.inHand, names.slice(0, 10))
})

t.test('figures are those since the last call, also before the first tick', async (t) => {
  const watch = watchEventLoop(
    () => histogram({ max: 40, mean: 12, p99: 30 }),
    () => [],
    () => undefined,
  )
  t.same(watch.figures(), { mean: 2, p99: 20, max: 30 })
  t.equal(watch.figures().max, 0)
  const fresh = watchEventLoop(
    () => histogram({ max: 0, mean: NaN }),
    () => [],
    () => undefined,
  )
  t.same(fresh.figures(), { mean: 0, p99: 0, max: 0 })
})
