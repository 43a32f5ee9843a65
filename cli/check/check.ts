import { asFailure, type Failure } from '../../functions/domain/failure.ts'
import { displayName, type UserInfo } from '../../functions/domain/requester/user-info.ts'
import { requesterOf } from '../../functions/domain/requester/requester.ts'
import { requireSound } from '../../functions/domain/schema/parse.ts'
import { textOption, type Call } from '../call.ts'
import { chosenBy, type Chosen } from '../local/chosen.ts'
import { requireKept, type LocalResource } from '../local/resource.ts'
import { openSite } from '../local/site.ts'
import { worst, type Outcome } from '../terminal/exit-codes.ts'
import { failed, outcomeOf, printReport, type Step } from '../terminal/steps.ts'
import { accountSteps, ruleSteps } from './rule-steps.ts'
import { secretSteps } from './secret-steps.ts'
import { walk } from './walk.ts'

/** `commitlet check`: goes through what an attempt would do, without writing anything. */
export async function check(call: Call): Promise<Outcome> {
  const { terminal } = call
  const outcomes: Outcome[] = []
  for (const one of await chosenBy(call)) {
    terminal.progress(`checking ${one.about} …`)
    const steps = await stepsOf(one, call)
    terminal.progress('')
    printReport({ about: one.about, steps, notes: notesOf(one) }, textOption(call, 'output') ?? '', terminal)
    outcomes.push(outcomeOf(steps))
  }
  return worst(outcomes)
}

async function stepsOf(one: Chosen, call: Call): Promise<readonly Step[]> {
  try {
    if (one.kind !== 'Secret') return await resourceSteps(one, call)
    return await secretSteps(await one.connection.cluster.readSecret(one.namespace, one.name), one.connection)
  } catch (error) {
    return [notRead(one, asFailure(error))]
  }
}

/** What ended a command before it could look; a network that does not answer is no finding. */
function notRead({ about }: Chosen, failure: Failure): Step {
  const step = 'read'
  if (failure.reason === 'Internal') throw failure
  if (failure.accountRefused)
    return {
      step,
      state: 'unseen',
      needed: true,
      text: `You may not read ${about}, or what it needs; ask for the right to \`get\` it.`,
    }
  if (failure.retry === 'transient') throw failure
  return failed(step, failure)
}

async function resourceSteps(one: Chosen, { terminal }: Call): Promise<readonly Step[]> {
  const { connection, config } = one
  const resource = await one.resource()
  const { user, step } = requesterIn(one, resource)
  if (user === undefined) return [step]
  const sources = { connection, settings: config, subject: user }
  const { steps, verdict } = await ruleSteps(resource, sources)
  const known = [step, ...steps]
  if (verdict.fieldErrors.length > 0) return known
  const sound = requireSound(resource.envelope, resource.parsed)
  const account = await accountSteps(sound, verdict, connection)
  const site = openSite(connection.cluster, config, terminal.signal)
  try {
    return [...known, ...account, ...(await walk(sound, site))]
  } finally {
    await site.close()
  }
}

/** Whose rights count; undefined: the stamp does not say, and the step does. */
function requesterIn(
  { from, config, connection }: Chosen,
  resource: LocalResource,
): { readonly user: UserInfo | undefined; readonly step: Step } {
  const step = 'requester'
  const { envelope, parsed } = resource
  // A spec with errors is reported by its rules.
  if (from === 'file' || !parsed.sound) {
    const user = connection.self
    const text = `It is looked at as if ${displayName(user.username)} applied it.`
    return { user, step: { step, state: 'good', text } }
  }
  try {
    requireKept(resource)
    const sound = requireSound(envelope, parsed)
    const { subject, displayName: shown } = requesterOf(
      sound,
      { key: undefined, delegation: config.delegation, now: new Date() },
      sound.written,
    )
    const text = `${shown} has asked for it; whether the stamp is signed is seen by the function alone.`
    return { user: subject, step: { step, state: 'good', text } }
  } catch (error) {
    return { user: undefined, step: failed(step, asFailure(error)) }
  }
}

function notesOf({ connection, knowsSettings, kind }: Chosen): readonly string[] {
  const user = displayName(connection.self.username)
  if (connection.server === undefined)
    return [
      "Seen from this machine and from the files alone: no cluster was asked, so nobody's rights were looked at.",
    ]
  const where =
    kind === 'Secret'
      ? `Seen as ${user}.`
      : `Seen as ${user} from this machine: the network, the proxy and the authorities of the function's pods may be others.`
  const settings =
    "The operator's settings could not be read, so their defaults count, or those of this environment."
  return knowsSettings ? [where] : [where, settings]
}
