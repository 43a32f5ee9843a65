import type { CommandRow, OptionRow } from '../call.ts'

/** What completion offers where a kind and a name are wanted. */
const KINDS = ['gitcommit/', 'pullrequest/', 'secret/'] as const

/** What completion offers for the first word of a command. */
export function firstWords({ completes = [] }: CommandRow): readonly string[] {
  return completes === 'resources' ? KINDS : completes
}

/** An option as it is written, in all its forms. */
export function formsOf({ name, short }: Pick<OptionRow, 'name' | 'short'>): readonly string[] {
  return [...(short === undefined ? [] : [`-${short}`]), `--${name}`]
}

/** Every option has this one beside it. */
export const HELP: OptionRow = { name: 'help', short: 'h', about: 'print help' }

/** A text between single quotes of a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
