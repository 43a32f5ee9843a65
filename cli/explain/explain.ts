import type { Condition } from '../../functions/domain/resource/stored-status.ts'
import type { Envelope } from '../../functions/domain/resource/resource.ts'
import { textOption, type Call } from '../call.ts'
import { chosenBy } from '../local/chosen.ts'
import { UsageError, type Outcome } from '../terminal/exit-codes.ts'
import { jsonText, plainLine, styles, table, wrapped } from '../terminal/style.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { explain, type Explanation } from './explanation.ts'
import { readHistory, type Happening } from './history.ts'

/** `commitlet explain`: why a resource is not Ready, what happened, what comes next, and what to do. */
export async function explainResource(call: Call): Promise<Outcome> {
  const { terminal } = call
  const [one] = await chosenBy(call)
  if (one === undefined || one.kind === 'Secret' || one.connection.server === undefined)
    throw new UsageError('Name a GitCommit or a PullRequest of the cluster, such as gitcommit/shop.')
  terminal.progress(`reading ${one.about} …`)
  const { envelope } = await one.resource()
  const history = await readHistory(one.connection.server, envelope)
  terminal.progress('')
  const explanation = explain(envelope, one.connection.cluster.now())
  const shown = { about: one.about, envelope, explanation, history }
  if (textOption(call, 'output') === 'json') terminal.print(jsonText(inJSON(shown)))
  else print(shown, terminal)
  return explanation.outcome
}

interface Shown {
  readonly about: string
  readonly envelope: Envelope
  readonly explanation: Explanation
  readonly history: readonly Happening[] | undefined
}

function inJSON({ about, envelope, explanation, history }: Shown): object {
  const { outcome, ...rest } = explanation
  const { conditions = [], nextAttemptTime, commit, pullRequest } = envelope.status ?? {}
  return {
    about,
    result: outcome,
    ...rest,
    nextAttemptTime,
    commit,
    pullRequest,
    conditions,
    events: history ?? null,
  }
}

const LABEL = 12
const WIDEST = 120

function print({ about, envelope, explanation, history }: Shown, terminal: Terminal): void {
  const styled = styles(terminal.colour)
  const width = terminal.columns === undefined ? Infinity : Math.min(terminal.columns, WIDEST) - LABEL
  const { phase, reason, message, requestedBy, attempts, next, advice, outcome } = explanation
  const line = (label: string, text: string | undefined): void => {
    if (text === undefined || text === '') return
    terminal.print(`${label.padEnd(LABEL)}${wrapped(plainLine(text), { width, indent: LABEL })}`)
  }
  const colour = { good: 'green', wrong: 'red', unknown: 'yellow', usage: 'red' } as const
  const state = reason === undefined || reason === phase ? phase : `${phase}, ${reason}`
  terminal.print(`${styled('bold', plainLine(about))}: ${styled(colour[outcome], plainLine(state))}`)
  line('Message', message)
  line('Requested', requestedBy === undefined ? undefined : `by ${requestedBy}`)
  line('Attempts', String(attempts))
  line('Next', next)
  line('What to do', advice)
  line('Commit', commitOf(envelope))
  line('Pull request', envelope.status?.pullRequest?.url)
  terminal.print(styled('bold', 'Conditions'))
  for (const row of table((envelope.status?.conditions ?? []).map(rowOf)))
    terminal.print(`  ${plainLine(row)}`)
  terminal.print(styled('bold', 'History'))
  for (const row of historyRows(history)) terminal.print(`  ${plainLine(row)}`)
}

function commitOf({ status }: Envelope): string | undefined {
  const { commit } = status ?? {}
  return commit === undefined
    ? undefined
    : `${commit.shortSHA} on ${commit.branch} at ${commit.path} ${commit.url ?? ''}`
}

function rowOf({ type, status, reason, lastTransitionTime }: Condition): readonly string[] {
  return [type, status, reason, `since ${lastTransitionTime}`]
}

function historyRows(history: readonly Happening[] | undefined): readonly string[] {
  if (history === undefined) return ['You may not list Events in this namespace.']
  if (history.length === 0) return ['No Events: clusters keep them for an hour.']
  return table(history.map(({ time, reason, message }) => [time.slice(0, 19), reason, message]))
}
