import type { CommandRow, OptionRow } from '../call.ts'
import { firstWords, formsOf, HELP, quoted } from './words.ts'

/** The completion for zsh, as a file of fpath or sourced. */
export function zshCompletion(commands: readonly CommandRow[]): string {
  return `#compdef commitlet
# Completion of commitlet for zsh.
_commitlet() {
  local -a commands
  commands=(
${commands.map(({ name, about }) => `    ${quoted(`${name}:${about.replaceAll(':', '\\:')}`)}`).join('\n')}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=\${words[2]}
  words=(commitlet "\${(@)words[3,-1]}")
  (( CURRENT -= 1 ))
  case $command in
${commands.map(caseOf).join('\n')}
  esac
}
if [ "$funcstack[1]" = _commitlet ]; then
  _commitlet "$@"
else
  compdef _commitlet commitlet
fi
`
}

function caseOf(command: CommandRow): string {
  const words = firstWords(command)
  const first = words.length === 0 ? [] : [quoted(`1:word:(${words.join(' ')})`)]
  const specs = [...[...command.options, HELP].flatMap(specsOf), ...first]
  return `    ${command.name})\n      _arguments ${specs.join(' \\\n        ')} ;;`
}

function specsOf(option: OptionRow): readonly string[] {
  const about = option.about.replace(/[[\]:]/g, '\\$&')
  const many = option.many === true ? '*' : ''
  return formsOf(option).map((form) => quoted(`${many}${form}[${about}]${valueOf(option)}`))
}

function valueOf({ value, completes }: OptionRow): string {
  if (value === undefined) return ''
  if (completes === 'files') return `:${value}:_files`
  return `:${value}:${completes === undefined ? '' : `(${completes.join(' ')})`}`
}
