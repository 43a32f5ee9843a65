import type { Call } from '../call.ts'
import { UsageError, type Outcome } from '../terminal/exit-codes.ts'
import { versionOfRelease } from '../version.ts'
import { bashCompletion } from './bash.ts'
import { fishCompletion } from './fish.ts'
import { manPage } from './man-page.ts'
import { zshCompletion } from './zsh.ts'

const SHELLS = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion } as const

/** `commitlet completion`: the completion for a shell. */
export function completion({ words, commands, terminal }: Call): Promise<Outcome> {
  const [shell = ''] = words
  const make = Object.entries(SHELLS).find(([name]) => name === shell)?.[1]
  if (make === undefined || words.length > 1)
    throw new UsageError(`Name one shell: ${Object.keys(SHELLS).join(', ')}.`)
  terminal.write(make(commands))
  return Promise.resolve('good')
}

/** `commitlet man`: the manual page. */
export function man({ words, commands, terminal }: Call): Promise<Outcome> {
  if (words.length > 0) throw new UsageError('man takes no words; the page is about every command.')
  terminal.write(manPage(commands, versionOfRelease()))
  return Promise.resolve('good')
}
