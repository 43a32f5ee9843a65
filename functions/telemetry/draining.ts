import type { Logger } from 'pino'
import { errorLogFields } from '../domain/error-log-fields.ts'

/** The end of a program. */
export interface Draining {
  /** What is waited for, by name, one after the other. Where one of them fails, the others follow nevertheless. */
  readonly steps: Readonly<Record<string, () => Promise<unknown>>>
  /** After so many milliseconds the process exits, whatever is left. */
  readonly mostMs: number
  /** What is at work. */
  readonly inHand: () => readonly string[]
  readonly log: Logger
  readonly exit: (code: number) => void
}

/** After the last log line the process normally ends; if an open connection keeps it alive, it exits after this time. */
const END_MS = 1_000
/** Names of what is left in a log line. */
const MOST_NAMES = 10

/**
 * Takes the steps, and exits with 0. What takes too long is left, with a log line that tells which step was waited for and what was
 * at work, and the process exits with 1. Never rejects.
 */
export async function drain({ steps, mostMs, inHand, log, exit }: Draining): Promise<void> {
  let waitsFor = ''
  const late = setTimeout(() => {
    const all = inHand()
    const left = { waitsFor, inHand: all.slice(0, MOST_NAMES), count: all.length }
    log.warn(left, 'the end comes before everything was done; sweeps take up again what is left')
    exitSoon(1)
  }, mostMs).unref()

  /** An immediate exit could write the last line before earlier ones that are still being written. */
  function exitSoon(code: number): void {
    setTimeout(() => exit(code), END_MS).unref()
  }

  for (const [name, step] of Object.entries(steps)) {
    waitsFor = name
    try {
      await step()
    } catch (error) {
      log.error({ origin: errorLogFields(error) }, `could not end: ${name}`)
    }
  }
  clearTimeout(late)
  log.info('stopped')
  exitSoon(0)
}
