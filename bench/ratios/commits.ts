import {
  CONTENDERS,
  roundTripsOf,
  type CommitCase,
  type Contended,
  type Contender,
} from '../commit/measure.ts'
import { rounded } from '../statistics.ts'
import type { Compared } from './ratio.ts'
import { counted } from './titles.ts'

const AGAINST: readonly (readonly [Contender, Contender])[] = [
  ['warm', 'clone'],
  ['warm', 'shallow'],
  ['warm', 'binary'],
  ['cold', 'shallow'],
  ['cold', 'binary'],
  ['ssh-warm', 'warm'],
  ['ssh-cold', 'cold'],
  ['ssh-cold', 'ssh-shallow'],
]

/** One case of one commit: the contenders against each other, and against the floor. */
export function commitRatios(one: CommitCase, all: readonly CommitCase[]): readonly Compared[] {
  const [id, where] =
    one.roundTripMs === 0
      ? [`commit/files-${one.files}`, counted(one.files, 'file')]
      : [`commit/rtt-${one.roundTripMs}`, `round trip ${one.roundTripMs} ms`]
  const find = (name: Contender): Contended | undefined =>
    one.contended.find(({ contender }) => contender === name)
  return [
    ...AGAINST.flatMap(([own, other]) => {
      const [of, by] = [find(own), find(other)]
      if (of === undefined || by === undefined) return []
      const titles = { title: `commit, ${where}: ${CONTENDERS[own]}`, baseline: CONTENDERS[other] }
      return [{ ...titles, id: `${id}/${own}-${other}`, value: of.took, unit: 'ms', base: by.took }]
    }),
    ...(['warm', 'cold'] as const).flatMap((own) => {
      const [of, floor] = [find(own), floorOf(one, own, all)]
      if (of === undefined || floor === undefined) return []
      const title = `commit, ${where}: ${CONTENDERS[own]}`
      return [{ id: `${id}/${own}-floor`, title, value: of.took, unit: 'ms', ...floor }]
    }),
  ]
}

/** What cannot be avoided: at 0 ms the server's own time for the requests, else what 0 ms takes and the round trips. */
export function floorOf(
  one: CommitCase,
  contender: Contender,
  all: readonly CommitCase[],
): { readonly baseline: string; readonly base: number } | undefined {
  const find = (where: CommitCase | undefined): Contended | undefined =>
    where?.contended.find((each) => each.contender === contender)
  const own = find(one)
  if (own === undefined) return undefined
  if (one.roundTripMs === 0) return { baseline: "floor: the server's own time", base: own.serverMs }
  const near = find(all.find(({ files, roundTripMs }) => files === one.files && roundTripMs === 0))
  if (near === undefined) return undefined
  const trips = roundTripsOf(own)
  const base = rounded(near.took.median + trips * one.measuredMs)
  return { baseline: `floor: ${trips} round trips and the time at 0 ms`, base }
}
