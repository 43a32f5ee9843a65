import { mock } from 'node:test'
import { makeBudget } from '../../../functions/attempt/turns/budget.ts'
import type { Hold } from '../../../functions/attempt/turns/lane.ts'
import type { LaneBounds } from '../../../functions/attempt/turns/lane-bounds.ts'
import type { Failure } from '../../../functions/domain/failure.ts'

const STOCK = { memoryMiB: 100, diskMiB: 100, diskIsMemory: false }
const COST = { memoryMiB: 1, diskMiB: 0 }
/** How often a lane is looked at. */
const STEP_MS = 250

/**
 * A lane, the names of those who have begun or given way in it, and its time, which needs the `setTimeout` of `mock.timers`.
 * `isBusy`: as of `makeBudget`.
 */
export function openLaneStage(bounds: LaneBounds, isBusy?: () => boolean) {
  let now = 0
  const events: string[] = []
  const lane = makeBudget(STOCK, { now: () => now, isBusy }).open(bounds)

  /** `name`: its namespace, a slash, and another word. It ends when it has to, if it can. */
  async function take(name: string, { host = 'host', canEnd = true } = {}): Promise<Hold | undefined> {
    const [namespace = ''] = name.split('/')
    const ending = Promise.withResolvers<Failure>()
    const giveWay = canEnd ? ending.resolve : undefined
    const held = await lane.acquire(COST, { namespace, host, resource: name, giveWay })
    events.push(name)
    void ending.promise.then(({ reason }) => {
      events.push(`${name} gave way: ${reason}`)
      held?.release()
    })
    return held
  }

  async function after(milliseconds: number): Promise<void> {
    for (let left = milliseconds; left >= 0; left -= STEP_MS) {
      const step = Math.min(STEP_MS, left)
      now += step
      mock.timers.tick(step)
      for (let times = 0; times < 20; times += 1) await Promise.resolve()
    }
  }

  return { events, take, after }
}
