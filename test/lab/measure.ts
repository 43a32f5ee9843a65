import { atZero, burst, commitOnce } from './scenarios.ts'
import type { Stage } from './stage.ts'

const MANY = 200

/** A row of the report. */
export interface Figure {
  readonly what: string
  readonly measured: string
  readonly aim: string
  readonly good: boolean
}

/** The scenarios, one after the other. */
export async function measure(stage: Stage, say: (line: string) => void): Promise<readonly Figure[]> {
  await stage.plane.kubectl([
    ...['-n', 'shop', 'create', 'configmap', 'shop-settings', '--from-literal=currency=EUR'],
  ])
  const warm = await commitOnce(stage, 'first')
  say(`The first commit landed after ${warm.toFixed(0)} ms`)
  const zero = await atZero(stage)
  say(`The function is gone after ${(zero / 1000).toFixed(1)} s`)
  const cold = await commitOnce(stage, 'cold')
  say(`A commit from zero replicas landed after ${cold.toFixed(0)} ms`)
  await atZero(stage)
  const many = await burst(stage, 'burst', MANY)
  return [
    { what: 'last event to zero pods', measured: seconds(zero), aim: '-', good: true },
    { what: 'cold commit, stored to ref', measured: seconds(cold), aim: '0.6 s', good: cold <= 600 },
    { what: `${MANY} from zero, all Ready`, measured: seconds(many.ms), aim: '6 s', good: many.ms <= 6_000 },
    { what: `${MANY} from zero, pushes`, measured: `${many.pushes}`, aim: '10', good: many.pushes <= 10 },
  ]
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`
}
