import type { CommandRow, OptionRow } from '../call.ts'
import { EXIT_CODES } from '../terminal/exit-codes.ts'
import { formsOf, HELP } from './words.ts'

/** The manual page commitlet(1) in the macros of man(7). */
export function manPage(commands: readonly CommandRow[], version: string): string {
  const lines = [
    `.TH COMMITLET 1 "" "Commitlet ${escaped(version)}"`,
    '.SH NAME',
    'commitlet \\- looks at, explains and carries out GitCommits and PullRequests',
    '.SH SYNOPSIS',
    ...commands.flatMap(({ name, words }) => [
      `.B commitlet ${escaped(name)}`,
      `[options] ${escaped(words)}`.trim(),
      '.br',
    ]),
    '.SH DESCRIPTION',
    'Commitlet turns the custom resources GitCommit and PullRequest of a Kubernetes cluster into Git commits and pull requests.',
    'This program looks at them, at the installation, and carries out files without a cluster.',
    'As kubectl\\-commitlet on the PATH it is',
    '.BR "kubectl commitlet" .',
    '.SH COMMANDS',
    ...commands.flatMap(commandLines),
    '.SH EXIT STATUS',
    ...Object.values(EXIT_CODES).flatMap(({ code, meaning }) => ['.TP', String(code), escaped(meaning)]),
    '.SH ENVIRONMENT',
    '.TP',
    '.B KUBECONFIG',
    'the kubeconfig',
    '.TP',
    '.B NO_COLOR, FORCE_COLOR',
    'without colours, or with them',
  ]
  return `${lines.join('\n')}\n`
}

function commandLines(command: CommandRow): readonly string[] {
  const { name, words, about, details, options, examples } = command
  return [
    `.SS commitlet ${escaped(`${name} ${words}`.trim())}`,
    `${escaped(about)}.`,
    ...details.flatMap((paragraph) => ['.PP', escaped(paragraph)]),
    ...[...options, HELP].flatMap(optionLines),
    '.PP',
    'Examples:',
    ...examples.flatMap(([line, what]) => ['.TP', `.B ${escaped(line)}`, escaped(what)]),
  ]
}

function optionLines(option: OptionRow): readonly string[] {
  const { value, about, absent } = option
  const forms = formsOf(option).join(', ')
  const preset = absent === undefined ? '' : ` (default: ${absent})`
  return [
    '.TP',
    `.B ${escaped(`${forms}${value === undefined ? '' : ` ${value}`}`)}`,
    escaped(`${about}${preset}`),
  ]
}

/** A line of text: nothing in it is a request of roff, and a hyphen can be copied. */
function escaped(text: string): string {
  const safe = text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('"', '\\(dq')
    .replace(
      /[^\n -~]/gu,
      (one) => `\\[u${(one.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`,
    )
  return /^[.']/.test(safe) ? `\\&${safe}` : safe
}
