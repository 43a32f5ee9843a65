import type { Environment } from '../../functions/domain/settings.ts'
import { textWithin } from './limited-text.ts'
import { plain } from './style.ts'

/** What a command sees of the terminal and of the process that it runs in. */
export interface Terminal {
  /** Writes a line to standard output. */
  readonly print: (line: string) => void
  /** Writes to standard output, as it is. */
  readonly write: (bytes: string | Uint8Array) => void
  /** Writes a line to standard error. */
  readonly warn: (line: string) => void
  /** Whether standard output takes colours. */
  readonly colour: boolean
  /** Columns of standard output; undefined: it is no terminal, so that nothing is cut. */
  readonly columns: number | undefined
  /** Shows one line on standard error until the next one, or until the empty one; nothing where that is no terminal. */
  readonly progress: (line: string) => void
  /** Reads standard input; undefined: it has more than so many bytes. */
  readonly readInput: (most: number) => Promise<string | undefined>
  readonly env: Environment
  /** Fires when the user stops the command. */
  readonly signal: AbortSignal
}

/** What a command may still end after Ctrl-C; a second one ends it at once. */
const STOP_MS = 2_000
/** As shells count: 128 and the number of the signal. */
const STOPPED = 130

/** The terminal of this process. Colours: see no-color.org; FORCE_COLOR as in Node. */
export function openTerminal(process: NodeJS.Process): Terminal {
  const { stdout, stderr, stdin, env } = process
  const stopping = new AbortController()
  process.once('SIGINT', () => {
    stopping.abort()
    setTimeout(() => process.exit(STOPPED), STOP_MS).unref()
  })
  const clear = '\r\u001b[K'
  let isShown = false
  function hide(): void {
    if (isShown) stderr.write(clear)
    isShown = false
  }
  return {
    print(line) {
      hide()
      stdout.write(`${line}\n`)
    },
    write(bytes) {
      hide()
      stdout.write(bytes)
    },
    warn(line) {
      hide()
      stderr.write(`${line}\n`)
    },
    colour: takesColour(stdout.isTTY, env),
    columns: stdout.isTTY ? stdout.columns : undefined,
    progress(line) {
      if (!stderr.isTTY) return
      hide()
      if (line === '') return
      stderr.write(plain(line).slice(0, (stderr.columns || 80) - 1))
      isShown = true
    },
    readInput: (most) => textWithin(stdin, most),
    env,
    signal: stopping.signal,
  }
}

/** Whether colours are wanted on a standard output that is a terminal, or is none. */
export function takesColour(isTerminal: boolean, env: Environment): boolean {
  if ((env['NO_COLOR'] ?? '') !== '') return false
  if ((env['FORCE_COLOR'] ?? '0') !== '0') return true
  return isTerminal && env['TERM'] !== 'dumb'
}
