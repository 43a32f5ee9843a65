import { parseArgs } from 'node:util'

/** The variants of the demo; with `keep` it stays up until Ctrl-C. */
export type Variant =
  { readonly run: 'story' | 'memory' } | { readonly run: 'cluster'; readonly keep: boolean }

/** The options of the command line, or a sentence that says what is wrong with them. */
export type Options = Variant | { readonly run: 'help' } | { readonly wrong: string }

/** The text of `--help`. */
export const USAGE = `Usage: npm run demo [-- --verbose | --cluster [--keep]]

Shows how GitCommits become commits, and PullRequests pull requests. Listens on 127.0.0.1 only and leaves nothing behind.

  (no flag)   the whole in five acts, without a cluster; needs Linux, Node and Git
  --verbose   also without a cluster: applies examples/ and prints each step, the statuses and the whole log
  --cluster   on a real kube-apiserver, with kubectl apply; needs kubectl, and builds the API server once
              with Go where KUBEBUILDER_ASSETS names none
  --keep      with --cluster: stays up until Ctrl-C and follows what you apply
  --help      this text

LOG_LEVEL=info also shows the log lines of both programs (without --cluster); NO_COLOR turns colours off.
Exits with 0 if all went as shown, 1 if not, 2 for a wrong flag or if examples/ was changed.
`

const FLAGS = {
  verbose: { type: 'boolean', default: false },
  cluster: { type: 'boolean', default: false },
  keep: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
} as const

/** Reads the arguments after the program's name. */
export function readOptions(args: readonly string[]): Options {
  const { values, tokens } = parseArgs({ args: [...args], options: FLAGS, strict: false, tokens: true })
  const unknown = tokens.find((token) => token.kind !== 'option' || !Object.hasOwn(FLAGS, token.name))
  const valued = tokens.find((token) => token.kind === 'option' && token.value !== undefined)
  const invalid = unknown ?? valued
  if (invalid !== undefined) {
    return {
      wrong: `Unknown argument "${args[invalid.index] ?? ''}"; --help shows the ones that the demo takes.`,
    }
  }
  if (values.help === true) return { run: 'help' }
  if (values.cluster === true && values.verbose === true)
    return { wrong: '--cluster prints everything already; leave out --verbose.' }
  if (values.cluster === true) return { run: 'cluster', keep: values.keep === true }
  if (values.keep === true) return { wrong: '--keep needs --cluster; --help shows both.' }
  return { run: values.verbose === true ? 'memory' : 'story' }
}
