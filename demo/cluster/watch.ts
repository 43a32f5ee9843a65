import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Printer } from '../print.ts'

/**
 * A template for kubectl: resource, phase, reason and commit. Not separated by tabs, because kubectl replaces them with
 * spaces in a watch.
 */
export const ROW = `{.kind} {.metadata.namespace}/{.metadata.name}|{.status.phase}|{.status.conditions[?(@.type=="Ready")].reason}|{.status.commit.shortSHA}{"\\n"}`

const WIDTHS = [32, 11, 20] as const
const PAUSE_MS = 1_000

/** Prints the rows of a watch, which has one for every write, if they differ from the last row of the same resource. */
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
 * Runs the command and passes on its lines. Starts it again when it ends, because an API server ends every watch after
 * some time. The returned function stops it permanently.
 */
export function followLines(
  program: string,
  args: readonly string[],
  onLine: (line: string) => void,
): () => Promise<void> {
  let stopped = false
  let child: ChildProcess | undefined
  function start(): void {
    if (stopped) return
    const started = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] })
    createInterface({ input: started.stdout }).on('line', onLine)
    started.once('close', () => setTimeout(start, PAUSE_MS).unref())
    child = started
  }
  start()
  return async () => {
    stopped = true
    child?.kill('SIGKILL')
  }
}
