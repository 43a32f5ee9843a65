import { randomInt } from 'node:crypto'
import { KINDS, type Kind, type Sizes } from './schedule.ts'

/** The command line of `npm run test:faults`. */
export const USAGE = `npm run test:faults -- [--commits=1000] [--pull-requests=200] [--faults=60] [--seed=SEED]
  --commits, --pull-requests  how many resources are applied
  --faults                    how many faults there are meanwhile
  --seed                      the same faults, after as many applied resources, as in the run that printed it
`

export interface FaultOptions {
  readonly seed: string
  readonly sizes: Sizes
}

/** Reads the arguments; undefined: something in them is not known. */
export function readOptions(args: readonly string[]): FaultOptions | undefined {
  const given = new Map(args.map((arg) => [arg.split('=')[0] ?? '', arg.replace(/^[^=]*=?/, '')]))
  function take(name: string, absent: string): string {
    const value = given.get(name) ?? absent
    given.delete(name)
    return value
  }
  const [commits = 0, pullRequests = 0, faults = 0] = (
    [
      ['--commits', '1000'],
      ['--pull-requests', '200'],
      ['--faults', '60'],
    ] as const
  ).map(([name, absent]) => Number(take(name, absent)))
  const seed = take('--seed', String(randomInt(1e6)))
  const isWhole = [commits, pullRequests, faults].every((size) => Number.isInteger(size) && size >= 0)
  if (given.size > 0 || !isWhole || seed === '') return undefined
  return { seed, sizes: { commits, pullRequests, faults, kinds: allKinds(), repositories: 10 } }
}

/** Every kind of fault. */
export function allKinds(): readonly Kind[] {
  return Object.keys(KINDS).filter((name): name is Kind => name in KINDS)
}
