import { LAB, MORE_TURNS, OLD_TURNS, site } from './installations.ts'
import { burst, type Arrival } from './simulation/loads.ts'
import type { Installation, Outcome } from './simulation/simulate.ts'

/** A range of what was measured: the least and the most. */
type Range = readonly [least: number, most: number]

/** What was measured on a real API server, and the installation that stands for it. */
export interface MeasuredPoint {
  readonly name: string
  readonly installation: Installation
  readonly load: readonly Arrival[]
  readonly measured: Readonly<Partial<Record<Compared, Range>>>
}

export type Compared = 'seconds' | 'mostPods' | 'pushes' | 'lostRaces' | 'gitRequests'

const KNATIVE = { ...LAB, webhooks: 2, scaling: { target: 64, minScale: 0, maxScale: 10 } }

/** The machine did other work as well when the direct engine was measured. */
const SLOWER = 1.35

/** Those with the git binary are of issue 13; the others are what `npm run bench:scale -- --real` has printed. */
export const MEASURED_POINTS: readonly MeasuredPoint[] = [
  {
    name: 'git binary, 1,000 on one branch, 8 turns',
    installation: { ...LAB, firstMs: 0 },
    load: burst(1, 1_000),
    measured: { seconds: [88, 88], pushes: [217, 217], lostRaces: [0, 0] },
  },
  {
    name: 'the same, 256 turns',
    installation: { ...LAB, firstMs: 0, turns: MORE_TURNS },
    load: burst(1, 1_000),
    measured: { seconds: [21.7, 21.7], pushes: [34, 34], lostRaces: [0, 0] },
  },
  {
    name: 'git binary on Knative, target 64, 200 from zero',
    installation: { ...KNATIVE, turns: OLD_TURNS },
    load: burst(1, 200),
    measured: { seconds: [23, 30], mostPods: [3, 3], pushes: [60, 81], lostRaces: [33, 71] },
  },
  {
    name: 'the same, 256 turns',
    installation: { ...KNATIVE, turns: MORE_TURNS },
    load: burst(1, 200),
    measured: { seconds: [7.4, 7.4], pushes: [5, 8] },
  },
  {
    name: 'the same, target 200',
    installation: { ...KNATIVE, scaling: { ...KNATIVE.scaling, target: 200 } },
    load: burst(1, 200),
    measured: { mostPods: [1, 1], lostRaces: [0, 0] },
  },
  {
    name: 'git binary on Knative, one from zero',
    installation: KNATIVE,
    load: burst(1, 1),
    measured: { seconds: [0.88, 1.56], pushes: [1, 1] },
  },
  {
    name: 'direct engine, one pod, 200 on one branch',
    installation: site(1, SLOWER),
    load: burst(1, 200),
    measured: { seconds: [4, 4], pushes: [8, 8], lostRaces: [0, 0], gitRequests: [8, 8] },
  },
  {
    name: 'the same, three pods',
    installation: site(3, SLOWER),
    load: burst(1, 200),
    measured: { seconds: [8.8, 8.8], pushes: [34, 34], lostRaces: [15, 15], gitRequests: [77, 77] },
  },
  {
    name: 'direct engine, one pod, 20 on each of ten branches',
    installation: site(1, SLOWER),
    load: burst(10, 20),
    measured: { seconds: [5.8, 5.8], pushes: [34, 34], lostRaces: [0, 0], gitRequests: [52, 52] },
  },
  {
    name: 'the same, three pods',
    installation: site(3, SLOWER),
    load: burst(10, 20),
    measured: { seconds: [11.6, 11.6], pushes: [137, 137], lostRaces: [59, 59], gitRequests: [354, 354] },
  },
]

/** How far an outcome is from what was measured: 1 within the range, else the factor to its nearer end. */
export function distance(outcome: Outcome, compared: Compared, [least, most]: Range): number {
  const value = outcome[compared]
  if (value >= least && value <= most) return 1
  return value < least ? least / Math.max(value, 0.5) : value / Math.max(most, 0.5)
}
