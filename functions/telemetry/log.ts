import pino, { type Logger } from 'pino'

/** The log of a program. */
export interface ProgramLog {
  readonly log: Logger
  /** Gives up the lines that nobody has read: an exit would wait for them. Nothing can be logged any more. */
  readonly giveUp: () => void
}

/** Bytes of the lines that wait for whoever reads the log: some 5,000 lines. */
const MOST_WAITING = 4 * 1024 * 1024

/**
 * Opens the log on the standard output. Nothing waits for whoever reads it: lines beyond 4 MiB are left out, and a line tells
 * how many, once there is room.
 */
export function openLog(part: 'function' | 'webhook', level: string): ProgramLog {
  // Asking for process.stdout makes its pipe one that does not block: a write that does could not be ended.
  const destination = pino.destination({ dest: process.stdout.fd, sync: false, maxLength: MOST_WAITING })
  const log = pino({ level, base: { part } }, destination)
  let leftOut = 0
  destination.on('drop', () => (leftOut += 1))
  destination.on('drain', () => {
    if (leftOut === 0) return
    const lines = leftOut
    leftOut = 0
    log.warn({ lines }, 'lines are missing before this one, because the log was not read in time')
  })
  return { log, giveUp: () => destination.destroy() }
}
