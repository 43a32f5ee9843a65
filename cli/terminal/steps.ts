import type { Failure } from '../../functions/domain/failure.ts'
import { redact } from '../../functions/domain/redact.ts'
import type { Outcome } from './exit-codes.ts'
import { jsonText, plainLine, styles, wrapped } from './style.ts'
import type { Terminal } from './terminal.ts'

/** `good`, `wrong`, or `unseen`: not looked at, and the text says why. */
export type StepState = 'good' | 'wrong' | 'unseen'

/** One thing that was looked at. Nothing in it is a secret. */
export interface Step {
  /** A word or two, such as `log-in`. */
  readonly step: string
  readonly state: StepState
  /** A sentence: what was found, and where that is wrong what to do. */
  readonly text: string
  /** The reason that a status would have. */
  readonly reason?: string
  /** Not looked at, though everything depends on it. */
  readonly needed?: true
}

/** A list of steps about one thing. */
export interface Report {
  /** What was looked at, such as `GitCommit shop/settings`. */
  readonly about: string
  readonly steps: readonly Step[]
  /** What to know about all of it, such as where it ran. */
  readonly notes: readonly string[]
}

/** Makes names of the host, or of a Secret, such that they can be shown: without these values. */
export function concealing(secrets: readonly string[]): (name: string) => string {
  return (name) => redact(name, secrets) ?? '***'
}

/** A step that ended with a Failure. The promise to retry, which attempts keep, is left out. */
export function failed(step: string, { reason, message }: Failure): Step {
  return { step, state: 'wrong', text: withoutPromise(message), reason }
}

/** A message without the promise that Commitlet retries: a command does not. */
export function withoutPromise(message: string): string {
  return message.replace(/[;,] Commitlet retries automatically\b(?:, and )?/g, '; ').replace(/; \.?$/, '.')
}

/** How a list of steps ends: wrong, or not found out where a step is unseen on which everything depends. */
export function outcomeOf(steps: readonly Step[]): Outcome {
  if (steps.some(({ state }) => state === 'wrong')) return 'wrong'
  return steps.some(({ state, needed }) => state === 'unseen' && needed === true) ? 'unknown' : 'good'
}

const MARKS = { good: ['✓', 'green'], wrong: ['✗', 'red'], unseen: ['–', 'dim'] } as const
const WIDEST = 120

/** Prints a report as JSON, or as lines with marks. */
export function printReport(report: Report, output: string, terminal: Terminal): void {
  const { about, steps, notes } = report
  if (output === 'json') {
    terminal.print(jsonText({ ...report, result: outcomeOf(steps) }))
    return
  }
  const styled = styles(terminal.colour)
  terminal.print(styled('bold', plainLine(about)))
  const widest = Math.max(0, ...steps.map(({ step }) => step.length))
  const indent = widest + 4
  const width = terminal.columns === undefined ? Infinity : Math.min(terminal.columns, WIDEST) - indent
  for (const { step, state, text, reason } of steps) {
    const [mark, colour] = MARKS[state]
    const said = state === 'wrong' && reason !== undefined ? `${reason}: ${text}` : text
    terminal.print(
      `${styled(colour, mark)} ${step.padEnd(widest)}  ${wrapped(plainLine(said), { width, indent })}`,
    )
  }
  for (const note of notes)
    terminal.print(styled('dim', wrapped(plainLine(note), { width: width + indent, indent: 0 })))
}
