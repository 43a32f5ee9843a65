import type { CommandRow, OptionRow } from '../call.ts'
import { firstWords, HELP } from './words.ts'

/** The completion for fish. */
export function fishCompletion(commands: readonly CommandRow[]): string {
  const lines = [
    '# Completion of commitlet for fish.',
    'complete -c commitlet -f',
    ...commands.map(
      ({ name, about }) =>
        `complete -c commitlet -n __fish_use_subcommand -a ${name} -d ${fishQuoted(about)}`,
    ),
    ...commands.flatMap(linesOf),
  ]
  return `${lines.join('\n')}\n`
}

function linesOf(command: CommandRow): readonly string[] {
  const when = `complete -c commitlet -n '__fish_seen_subcommand_from ${command.name}'`
  const words = firstWords(command)
  return [
    ...(words.length === 0 ? [] : [`${when} -a '${words.join(' ')}'`]),
    ...[...command.options, HELP].map((option) => `${when} ${optionOf(option)}`),
  ]
}

function optionOf({ name, short, value, completes, about }: OptionRow): string {
  const forms = `${short === undefined ? '' : `-s ${short} `}-l ${name}`
  const offered = completes === undefined || completes === 'files' ? '' : ` -a '${completes.join(' ')}'`
  // -x: a value, and no files.
  const taken = value === undefined ? '' : completes === 'files' ? ' -r -F' : ` -x${offered}`
  return `${forms}${taken} -d ${fishQuoted(about)}`
}

/** Single quotes of fish, in which a backslash escapes. */
function fishQuoted(text: string): string {
  return `'${text.replace(/[\\']/g, '\\$&')}'`
}
