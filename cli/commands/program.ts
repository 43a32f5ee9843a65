import { Command, CommanderError, Option } from 'commander'
import type { Call, CommandRow, OptionRow } from '../call.ts'
import { EXIT_CODES, UsageError, type Outcome } from '../terminal/exit-codes.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { COMMANDS } from './table.ts'

/** What is the same for every call. */
export interface Setting {
  readonly terminal: Terminal
  readonly version: string
}

/**
 * Reads the command line and runs the command.
 * @throws UsageError for a command line that cannot be understood, and what the command throws
 */
export async function runCommand(words: readonly string[], { terminal, version }: Setting): Promise<Outcome> {
  let outcome: Outcome = 'good'
  const program = new Command('commitlet')
  program
    .description('Looks at, explains and carries out GitCommits and PullRequests of Commitlet.')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help')
    .addHelpText('after', `\n${exitCodeHelp()}`)
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: (text) => terminal.write(text),
      // The sentence is printed where all errors are.
      writeErr: () => undefined,
      getOutHelpWidth: () => terminal.columns ?? 100,
    })
  for (const row of COMMANDS) {
    const command = program.command(row.name)
    define(command, row)
    command.action(async (named: readonly string[], options: Record<string, unknown>) => {
      const run = await row.load()
      const call: Call = { terminal, words: named, options, commands: COMMANDS }
      outcome = await run(call)
    })
  }
  for (const command of [program, ...program.commands]) command.exitOverride()
  if (words.length === 0) {
    terminal.write(program.helpInformation())
    throw new UsageError('No command was given; name one of the commands above.')
  }
  await program.parseAsync(words, { from: 'user' }).catch(asUsage)
  return outcome
}

function define(command: Command, row: CommandRow): void {
  const examples = row.examples.map(([line, about]) => `  ${line}\n      ${about}`).join('\n')
  command
    .summary(row.about)
    .description([`${row.about[0]?.toUpperCase() ?? ''}${row.about.slice(1)}.`, ...row.details].join('\n\n'))
    .usage(`[options] ${row.words}`)
    .argument('[words...]')
    .allowExcessArguments(false)
    .addHelpText('after', `\nExamples:\n${examples}\n\n${exitCodeHelp()}`)
  for (const option of row.options) command.addOption(optionOf(option))
  // The words are described by the usage.
  command.configureHelp({ visibleArguments: () => [] })
}

function optionOf({ name, short, value, completes, many, absent, about }: OptionRow): Option {
  const flags = `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`
  const option = new Option(flags, about)
  if (absent !== undefined) option.default(absent)
  if (Array.isArray(completes)) option.choices(completes)
  if (many === true)
    option.argParser<readonly string[]>((one, before: readonly string[] | undefined) => [
      ...(before ?? []),
      one,
    ])
  return option
}

function exitCodeHelp(): string {
  const lines = Object.values(EXIT_CODES).map(({ code, meaning }) => `  ${code}  ${meaning}`)
  return `Exit codes:\n${lines.join('\n')}`
}

/** The parser has printed help and version by itself; its errors become one sentence. */
function asUsage(error: unknown): void {
  if (!(error instanceof CommanderError)) throw error
  if (error.exitCode === 0) return
  const said = error.message.replace(/^error: /, '').replace(/\n/g, ' ')
  throw new UsageError(
    `${said[0]?.toUpperCase() ?? ''}${said.slice(1).replace(/\.$/, '')}; see commitlet --help.`,
  )
}
