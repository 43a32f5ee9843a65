import { costOf } from '../test/harness/growth.ts'
import type { ParserRow } from '../test/parsers/row.ts'
import { ROWS } from '../test/parsers/rows.ts'

const ROUNDS = 3

/** `npm run bench:parsers`: the table of docs/security.md, each row with the slowest of its inputs. */
function main(): void {
  for (const row of ROWS) process.stdout.write(`${lineOf(row)}\n`)
}

function lineOf({ parser, largest, unit, shapes }: ParserRow): string {
  const costs = Object.values(shapes).map((shape) => {
    // The engine compiles what has run before.
    costOf(shape, largest)
    return Math.min(...Array.from({ length: ROUNDS }, () => costOf(shape, largest)))
  })
  return `| ${parser} | ${sizeOf(largest)} ${unit ?? 'characters'} | ${shown(Math.max(...costs))} |`
}

function sizeOf(size: number): string {
  return Math.floor(size).toLocaleString('en-GB')
}

function shown(milliseconds: number): string {
  return milliseconds < 1 ? 'less than 1' : milliseconds.toFixed(0)
}

main()
