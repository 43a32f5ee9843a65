import { Failure } from '../../functions/domain/failure.ts'
import { WrongSetting } from '../../functions/domain/settings.ts'
import { EXIT_CODES, UsageError } from '../terminal/exit-codes.ts'
import { withoutPromise } from '../terminal/steps.ts'
import { plain, styles } from '../terminal/style.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { runCommand } from './program.ts'

/** Runs `commitlet` with these words, prints one sentence for what keeps it from ending well, and returns the exit code. */
export async function run(words: readonly string[], terminal: Terminal, version: string): Promise<number> {
  try {
    return EXIT_CODES[await runCommand(words, { terminal, version })].code
  } catch (error) {
    const { code, sentence } = explained(error)
    terminal.warn(`${styles(terminal.colour)('red', 'commitlet:')} ${plain(sentence)}`)
    return code
  }
}

/** Failures that say what is wrong; all others say that it could not be found out. */
const FOUND = new Set(['never', 'slow', 'reference'])

function explained(error: unknown): { readonly code: number; readonly sentence: string } {
  if (error instanceof UsageError || error instanceof WrongSetting)
    return { code: EXIT_CODES.usage.code, sentence: error.message }
  if (!(error instanceof Failure) || error.reason === 'Internal') return bug(error)
  const isFound = FOUND.has(error.retry) && !error.accountRefused
  return {
    code: isFound ? EXIT_CODES.wrong.code : EXIT_CODES.unknown.code,
    sentence: `${error.reason}: ${withoutPromise(error.message)}`,
  }
}

/** The message of a bug may hold anything, so its name alone is printed. */
function bug(error: unknown): { readonly code: number; readonly sentence: string } {
  const cause = error instanceof Failure ? error.cause : error
  const name = cause instanceof Error ? cause.name : typeof cause
  const where = cause instanceof Error ? (/at [^\n]+/.exec(cause.stack ?? '')?.[0] ?? '') : ''
  const sentence = `This is a bug of commitlet (${name} ${where}); report it with the command that you ran.`
  return { code: EXIT_CODES.unknown.code, sentence }
}
