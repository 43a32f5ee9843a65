import type { Burst } from '../burst/burst.ts'
import { rounded } from '../statistics.ts'
import type { Compared } from './ratio.ts'
import { counted, idOf, titleOf } from './titles.ts'

/** Many GitCommits against one, against the same after each other, and against the git-binary engine. */
export function burstRatios(bursts: readonly Burst[]): readonly Compared[] {
  const like = (one: Burst, other: Partial<Burst>): Burst | undefined =>
    bursts.find((each) => {
      const wanted = { ...one, ...other }
      return (['engine', 'commits', 'branches', 'namespaces', 'files'] as const).every(
        (key) => each[key] === wanted[key],
      )
    })
  return bursts.flatMap((one) => {
    const id = `burst/${idOf(one)}`
    const title = titleOf(one)
    if (one.engine === 'binary') return []
    const binary = like(one, { engine: 'binary' })
    const single = like(one, { commits: 1, branches: 1, namespaces: 1 })
    const tenth = one.commits > 1_000 ? like(one, { commits: one.commits / 10 }) : undefined
    const isMany = one.commits > 1 && single !== undefined
    return [
      ...(binary === undefined ? [] : [againstBinary(one, binary, { id, title })]),
      ...(isMany ? manyRatios(one, single, { id, title }) : []),
      ...(tenth === undefined
        ? []
        : [
            {
              id: `${id}/tenth`,
              title,
              value: one.seconds,
              unit: 's',
              baseline: titleOf(tenth),
              base: tenth.seconds,
            },
          ]),
    ]
  })
}

interface Named {
  readonly id: string
  readonly title: string
}

function againstBinary(one: Burst, binary: Burst, { id, title }: Named): Compared {
  const baseline = 'with the git-binary engine'
  const named = { id: `${id}/binary`, baseline }
  return one.commits === 1
    ? { ...named, title: `${title}, stored to Ready`, value: one.p50, unit: 'ms', base: binary.p50 }
    : { ...named, title, value: one.seconds, unit: 's', base: binary.seconds }
}

function manyRatios(one: Burst, single: Burst, { id, title }: Named): readonly Compared[] {
  const serial = rounded((one.commits * single.p50) / 1000)
  return [
    { id: `${id}/time`, title, value: one.seconds, unit: 's', baseline: 'one after the other', base: serial },
    {
      id: `${id}/pushes`,
      title: `${title}: pushes`,
      value: one.pushes,
      unit: 'per commit',
      baseline: 'one each',
      base: 1,
    },
    {
      id: `${id}/calls`,
      title: `${title}: API calls`,
      value: one.functionCalls,
      unit: 'per commit',
      baseline: 'of one GitCommit',
      base: single.functionCalls,
    },
    {
      id: `${id}/memory`,
      title: `${title}: peak`,
      value: one.peakMB,
      unit: 'MB',
      baseline: 'before it',
      base: one.restMB,
    },
  ]
}

function isSameWork(one: Burst, other: Burst): boolean {
  return one.branches === other.branches && one.commits === other.commits && one.brokered === other.brokered
}

/** Several replicas against one that gets its events in the same way. */
export function replicaRatios(all: readonly Burst[]): readonly Compared[] {
  return all.flatMap((one) => {
    const alone = all.find((other) => other.replicas === 1 && isSameWork(other, one))
    if (one.replicas === 1 || alone === undefined) return []
    const title = `${counted(one.replicas, 'replica')}: ${titleOf(one)}`
    const id = `replicas/${one.replicas}-${idOf(one)}`
    return [{ id, title, value: one.seconds, unit: 's', baseline: 'one replica', base: alone.seconds }]
  })
}
