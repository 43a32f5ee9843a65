import type { Outcome } from './terminal/exit-codes.ts'
import type { Terminal } from './terminal/terminal.ts'

/** One call of a command, as its row of the table of commands understands it. */
export interface Call {
  readonly terminal: Terminal
  /** The words that are no options. */
  readonly words: readonly string[]
  readonly options: Readonly<Record<string, unknown>>
  /** Every command, for what is made from all of them. */
  readonly commands: readonly CommandRow[]
}

/** A command; throws UsageError, WrongSetting, or the Failure that kept it from finding out. */
export type Run = (call: Call) => Promise<Outcome>

/** An option of a command. */
export interface OptionRow {
  /** Without the dashes, such as `kube-context`. */
  readonly name: string
  readonly short?: string
  /** What its value is called; left out: it has none. */
  readonly value?: string
  /** What completion offers for the value. */
  readonly completes?: 'files' | readonly string[]
  /** It may be given several times. */
  readonly many?: true
  readonly absent?: string
  readonly about: string
}

/** A command, for the parser, help, completion, the man page and docs/cli.md. */
export interface CommandRow {
  readonly name: string
  /** The words after it, as help shows them. */
  readonly words: string
  /** What completion offers for the first word; `resources`: kinds, and their names. */
  readonly completes?: 'resources' | readonly string[]
  /** One line. */
  readonly about: string
  /** Paragraphs. */
  readonly details: readonly string[]
  readonly options: readonly OptionRow[]
  /** Each with what it does. */
  readonly examples: readonly (readonly [string, string])[]
  /** Loads the command itself. */
  readonly load: () => Promise<Run>
}

/** The value of an option that was given, or has a default. */
export function textOption({ options }: Call, name: string): string | undefined {
  const value = options[name]
  return typeof value === 'string' ? value : undefined
}

/** The values of an option that may be given several times. */
export function listOption({ options }: Call, name: string): readonly string[] {
  const value = options[name]
  return Array.isArray(value) ? value.map(String) : []
}

/** Whether the option was given. */
export function flagOption({ options }: Call, name: string): boolean {
  return options[name] === true
}
