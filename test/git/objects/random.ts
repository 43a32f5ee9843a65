import { createHash } from 'node:crypto'
import { SEED } from '../../harness/sample.ts'

/** Numbers that a seed determines. */
export interface Random {
  /** From 0 up to, not including, `below`. */
  readonly int: (below: number) => number
  readonly pick: <T>(from: readonly T[]) => T
  /** True this often, from 0 to 1. */
  readonly chance: (often: number) => boolean
  readonly bytes: (length: number) => Buffer
}

/** The numbers of this run's seed, or of a new one, which `seed` tells. */
export function createRandom(): Random & { readonly seed: string } {
  const seed = process.env[SEED] ?? String(Date.now())
  return { seed, ...randomOf(createHash('sha256').update(seed).digest().readUInt32BE()) }
}

/** The numbers that begin here. Mulberry32: small, fast, and good enough to make up trees. */
export function randomOf(start: number): Random {
  let state = start
  function next(): number {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const int = (below: number) => Math.floor(next() * below)
  return {
    int,
    pick: (from) => from[int(from.length)]!,
    chance: (often) => next() < often,
    bytes: (length) => Buffer.from(Array.from({ length }, () => int(256))),
  }
}
