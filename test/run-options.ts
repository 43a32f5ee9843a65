import { randomInt } from 'node:crypto'

const USAGE = `npm test -- [--unit] [--long] [--seed=SEED] [--coverage] [--times] [--require-control-plane] [FILE...]
  --unit                   leave out what needs a control plane, and what starts whole programs or tests the tests
  --long                   every case of every matrix, floods of full size
  --seed=SEED              the same sample of the matrices as in the run that printed it
  --coverage               write .tap/report/lcov.info and print the table
  --times                  print the CPU seconds of each process and test file, the largest first
  --require-control-plane  fail where there is none, or no root for in-cluster.test.ts, instead of skipping
`
const OLDEST_NODE = [22, 19] as const

/** What the user asked of `npm test`. */
export interface Options {
  readonly unit: boolean
  readonly long: boolean
  readonly seed: string
  readonly coverage: boolean
  readonly times: boolean
  readonly required: boolean
  /** Empty: all of them. */
  readonly files: readonly string[]
}

const KNOWN = ['--unit', '--long', '--coverage', '--times', '--require-control-plane'] as const

/** The options, with a seed of its own where none is given; one sentence and the usage where a flag is not known. */
export function readOptions(args: readonly string[]): Options | string {
  const flags = new Set(args.filter((arg) => arg.startsWith('-')))
  const [unit = false, long = false, coverage = false, times = false, required = false] = KNOWN.map((flag) =>
    flags.delete(flag),
  )
  const given = [...flags].find((flag) => /^--seed=./.test(flag))
  if (given !== undefined) flags.delete(given)
  const [unknown] = flags
  if (unknown !== undefined) return `${unknown} is not known.\n${USAGE}`
  const seed = given?.slice('--seed='.length) ?? String(randomInt(1e6))
  const files = args.filter((arg) => !arg.startsWith('-'))
  return { unit, long, seed, coverage, times, required, files }
}

/** One sentence where this Node cannot run the sources. */
export function tooOld(version: string): string | undefined {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1])) return undefined
  return `This is Node ${version}, but ${OLDEST_NODE.join('.')} or newer is needed (24 is best): install it and run npm ci.`
}
