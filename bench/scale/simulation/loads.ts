import { randomBy } from './random.ts'

/** A GitCommit that is applied, `at` milliseconds after the start. */
export interface Arrival {
  readonly at: number
  readonly namespace: string
  readonly branch: string
}

/** GitCommits that are applied together: `each` in each namespace, which has one branch of its own. */
export function burst(namespaces: number, each: number): readonly Arrival[] {
  return Array.from({ length: namespaces * each }, (_, index) => {
    const tenant = index % namespaces
    return { at: 0, namespace: `team-${tenant}`, branch: `config-${tenant}/main` }
  })
}

/** Several namespaces for one branch, together. */
export function sharedBranch(namespaces: number, each: number): readonly Arrival[] {
  return burst(namespaces, each).map((arrival) => ({ ...arrival, branch: 'config/main' }))
}

/** How GitCommits arrive over a time. */
export interface Stream {
  readonly perHour: number
  readonly minutes: number
  readonly namespaces: number
  readonly branches: number
  readonly seed: number
}

/** GitCommits that arrive independently of each other, for branches that are equally likely. */
export function stream({ perHour, minutes, namespaces, branches, seed }: Stream): readonly Arrival[] {
  const random = randomBy(seed)
  const arrivals: Arrival[] = []
  for (let at = 0; ;) {
    at += (-Math.log(1 - random()) * 3_600_000) / perHour
    if (at > minutes * 60_000) return arrivals
    const branch = Math.floor(random() * branches)
    arrivals.push({ at, namespace: `team-${branch % namespaces}`, branch: `config-${branch}/main` })
  }
}
