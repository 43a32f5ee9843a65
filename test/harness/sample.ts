import { createHash } from 'node:crypto'

/** Set by `--long` of test/run.ts: every case of every matrix runs, and floods have their full size. */
export const LONG = 'COMMITLET_TEST_LONG'

/** What the choice of a sample goes by; test/run.ts sets and prints it. */
export const SEED = 'COMMITLET_TEST_SEED'

/** Is this run the long one? */
export function isLong(): boolean {
  return process.env[LONG] === 'yes'
}

/**
 * Of the cases of each row one, chosen by the seed, in their order; all of them in a long run, and where a file runs
 * without test/run.ts. What a row is says whoever knows what its cases prove again.
 */
export function sample<T>(cases: readonly T[], rowOf: (one: T) => string): readonly T[] {
  const seed = process.env[SEED]
  if (isLong() || seed === undefined) return cases
  const rows = Map.groupBy(cases, rowOf)
  const chosen = new Set([...rows].map(([row, all]) => all[numberOf(`${seed} ${row}`) % all.length]))
  return cases.filter((one) => chosen.has(one))
}

/** The size of a flood, a pile or a series: the short one but in a long run. */
export function sized(short: number, long: number): number {
  return isLong() ? long : short
}

function numberOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE()
}
