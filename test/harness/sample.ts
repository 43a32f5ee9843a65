import { createHash } from 'node:crypto'

/** Set by `--long` of test/run.ts: every case of every matrix runs, and floods have their full size. */
export const LONG = 'COMMITLET_TEST_LONG'

/** The seed of the samples; test/run.ts sets and prints it. */
export const SEED = 'COMMITLET_TEST_SEED'

/** Set by `--coverage` of test/run.ts: lines are counted, and no seed may leave those of a file out. */
export const COUNTED = 'COMMITLET_TEST_COUNTED'

/** Whether this run counts lines. */
export function isCounted(): boolean {
  return process.env[COUNTED] === 'yes'
}

/** Whether this run is a long one. */
export function isLong(): boolean {
  return process.env[LONG] === 'yes'
}

/**
 * One case of each row, chosen by the seed, in their order, and two where lines are counted; all cases in a long run,
 * and where a file runs without test/run.ts. The caller decides which cases prove the same and so form a row.
 */
export function sample<T>(cases: readonly T[], rowOf: (one: T) => string): readonly T[] {
  const seed = process.env[SEED]
  if (isLong() || seed === undefined) return cases
  const rows = Map.groupBy(cases, rowOf)
  const seeds = isCounted() ? [seed, `${seed} again`] : [seed]
  const chosen = new Set([...rows].flatMap(([row, all]) => seeds.map((one) => drawn(one, row, all))))
  return cases.filter((one) => chosen.has(one))
}

/** The one of a row that a seed draws. */
export function drawn<T>(seed: string, row: string, all: readonly T[]): T | undefined {
  return all[numberOf(`${seed} ${row}`) % all.length]
}

/** Whether a case is one of every so many that the seed draws; each is in a long run, and without test/run.ts. */
export function isDrawn(title: string, oneOf: number): boolean {
  const seed = process.env[SEED]
  return isLong() || seed === undefined || numberOf(`${seed} ${title}`) % oneOf === 0
}

/** The size of a flood or a series: the short one, except in a long run. */
export function sized(short: number, long: number): number {
  return isLong() ? long : short
}

/** The seed of a generator of random inputs, as a number of 32 bits; none without test/run.ts. */
export function seedOf(generator: string): { readonly seed?: number } {
  const seed = process.env[SEED]
  return seed === undefined ? {} : { seed: numberOf(`${seed} ${generator}`) | 0 }
}

function numberOf(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE()
}
