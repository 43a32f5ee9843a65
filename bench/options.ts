import { parseArgs } from 'node:util'
import { GROUPS, type Group } from './results.ts'

/** What the command line asks for. */
export interface Options {
  readonly groups: readonly Group[]
  readonly short: boolean
  /** Only makes the page from the recorded run. */
  readonly render: boolean
  /** Where the results go besides. */
  readonly json: string | undefined
}

export const USAGE = `npm run bench -- [--short] [--only=GROUP,...] [--json=FILE] [--render]
  --short   a selection, in at most 3 minutes
  --only    some of ${GROUPS.join(', ')}
  --json    writes the results to this file, too
  --render  measures nothing: makes docs/performance.md from the last recorded run
A run of everything is recorded, and docs/performance.md is made from it.
`

/** Reads the arguments; a sentence if one of them is wrong. */
export function readOptions(args: readonly string[]): Options | string {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        short: { type: 'boolean', default: false },
        only: { type: 'string', default: GROUPS.join() },
        json: { type: 'string' },
        render: { type: 'boolean', default: false },
      },
    })
    const asked = values.only.split(',')
    const unknown = asked.find((name) => !GROUPS.some((group) => group === name))
    if (unknown !== undefined) return `${unknown} is none of the groups ${GROUPS.join(', ')}.`
    const groups = GROUPS.filter((group) => asked.includes(group))
    return { groups, short: values.short, render: values.render, json: values.json }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
