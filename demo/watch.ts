import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Printer } from './print.ts'

/**
 * A template of kubectl's: resource, phase, reason and commit. Not parted by tabulators, because kubectl puts
 * blanks in their place while it watches.
 */
export const ROW = `{.kind} {.metadata.namespace}/{.metadata.name}|{.status.phase}|{.status.conditions[?(@.type=="Ready")].reason}|{.status.commit.shortSHA}{"\\n"}`

const WIDTHS = [32, 11, 20] as const
const PAUSE_MS = 1_000

/** Takes the rows that a watch tells, one for every write, and prints those that differ from the one before. */
export function rowPrinter(print: Printer, known: readonly string[]): (row: string) => void {
  const shown = new Map(known.map((row) => [nameOf(row), row]))
  return (row) => {
    if (shown.get(nameOf(row)) === row) return
    shown.set(nameOf(row), row)
    const time = new Date().toLocaleTimeString('en-GB')
    const cells = row.split('|').map((cell, column) => cell.padEnd(WIDTHS[column] ?? 0))
    print.line([time, ...cells].join('  ').trimEnd())
  }
}

function nameOf(row: string): string {
  return row.split('|')[0] ?? ''
}

/**
 * Runs the command and hands on its lines; begins anew where it ends, as an API server ends each watch some
 * time. The answer ends it for good.
 */
export function followLines(
  program: string,
  args: readonly string[],
  take: (line: string) => void,
): () => Promise<void> {
  let stopped = false
  let child: ChildProcess | undefined
  function begin(): void {
    if (stopped) return
    const begun = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    createInterface({ input: begun.stdout }).on('line', take)
    begun.once('close', () => setTimeout(begin, PAUSE_MS).unref())
    child = begun
  }
  begin()
  return async () => {
    stopped = true
    child?.kill('SIGKILL')
  }
}
