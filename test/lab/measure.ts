import { atZero, burst, changeRevision, commitOnce } from './scenarios.ts'
import type { Stage } from './stage.ts'

const MANY = 200

/** A row of the report. */
export interface Figure {
  readonly what: string
  readonly measured: string
  /** Empty where there is none. */
  readonly aim: string
  readonly good: boolean
}

/** How the scenarios are judged. */
export interface Judging {
  /** How many times its aim a figure may be. */
  readonly slack: number
  readonly say: (line: string) => void
}

/** The scenarios, one after the other. Throws where a commit was lost or made twice. */
export async function measure(stage: Stage, { slack, say }: Judging): Promise<readonly Figure[]> {
  await stage.plane.kubectl([
    ...['-n', 'shop', 'create', 'configmap', 'shop-settings', '--from-literal=currency=EUR'],
  ])
  const figures: Figure[] = []
  function add(what: string, value: number, unit: string, aim?: number): void {
    const measured = `${Math.round(value * 100) / 100}${unit}`
    say(`${what}: ${measured}`)
    const good = aim === undefined || value <= aim * slack
    figures.push({ what, measured, aim: aim === undefined ? '' : `${aim}${unit}`, good })
  }
  add('a commit by a pod that runs, stored to ref', (await commitOnce(stage, 'first')) / 1000, ' s')
  add('the last event to zero pods', (await atZero(stage)) / 1000, ' s')
  add('a commit from zero pods, stored to ref', (await commitOnce(stage, 'cold')) / 1000, ' s', 0.6)
  await atZero(stage)
  const many = await burst(stage, 'burst', MANY)
  add(`${MANY} from zero pods, all Ready`, many.ms / 1000, ' s', 6)
  add(`${MANY} from zero pods, pushes`, many.pushes, '', 10)
  const during = await changeRevision(stage, 'change', MANY)
  add(`${MANY} while the revision changes, all Ready`, during.ms / 1000, ' s')
  return figures
}
