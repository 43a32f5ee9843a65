import type { CommandRow, OptionRow } from '../call.ts'
import { firstWords, formsOf, HELP } from './words.ts'

/** The completion for bash 4 or newer. */
export function bashCompletion(commands: readonly CommandRow[]): string {
  return `# Completion of commitlet for bash.
_commitlet() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD - 1]}" command="\${COMP_WORDS[1]}" words=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W '${[...commands.map(({ name }) => name), 'help'].join(' ')}' -- "$word")
    return
  fi
  case "$command $before" in
${commands.flatMap((command) => command.options.flatMap((option) => valueCase(command, option))).join('\n')}
  esac
  case "$command" in
${commands.map(wordCase).join('\n')}
    help) words='${commands.map(({ name }) => name).join(' ')}' ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  case "\${COMPREPLY[0]}" in */) compopt -o nospace ;; esac
}
complete -F _commitlet commitlet
`
}

function valueCase({ name }: CommandRow, option: OptionRow): readonly string[] {
  const { value, completes } = option
  if (value === undefined) return []
  const pattern = formsOf(option)
    .map((form) => `'${name} ${form}'`)
    .join(' | ')
  if (completes === 'files')
    return [
      `    ${pattern}) mapfile -t COMPREPLY < <(compgen -f -- "$word"); compopt -o filenames; return ;;`,
    ]
  if (completes === undefined) return [`    ${pattern}) return ;;`]
  return [
    `    ${pattern}) mapfile -t COMPREPLY < <(compgen -W '${completes.join(' ')}' -- "$word"); return ;;`,
  ]
}

function wordCase(command: CommandRow): string {
  const options = [...command.options, HELP].map(({ name }) => `--${name}`)
  return `    ${command.name}) words='${[...firstWords(command), ...options].join(' ')}' ;;`
}
