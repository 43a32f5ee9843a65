import { Failure } from '../../functions/domain/failure.ts'
import { textOption, type Call } from '../call.ts'
import { versionOfRelease } from '../version.ts'
import { clusterOptions } from '../local/chosen.ts'
import { connect } from '../local/connection.ts'
import { UsageError, type Outcome } from '../terminal/exit-codes.ts'
import { outcomeOf, printReport, type Step } from '../terminal/steps.ts'
import { apiSteps } from './api-steps.ts'
import type { Installed } from './installed.ts'
import { partSteps } from './part-steps.ts'
import { rightsSteps } from './rights-steps.ts'
import { webhookSteps } from './webhook-steps.ts'

const LOOKS = [apiSteps, webhookSteps, rightsSteps, partSteps] as const

/** `commitlet doctor`: whether the installation is whole. */
export async function doctor(call: Call): Promise<Outcome> {
  const { terminal } = call
  if (call.words.length > 0) throw new UsageError('doctor takes no words; see commitlet doctor --help.')
  const options = clusterOptions(call)
  terminal.progress('connecting …')
  const { server, cluster, self } = await connect(options)
  if (server === undefined) throw new Failure('NetworkError', 'There is no cluster to look at.')
  const { systemNamespace } = options
  const installed: Installed = { server, systemNamespace, version: versionOfRelease(), now: cluster.now() }
  const steps: Step[] = []
  for (const look of LOOKS) {
    terminal.progress(`looking at ${systemNamespace} …`)
    steps.push(...(await look(installed)))
  }
  terminal.progress('')
  const about = `Commitlet in ${systemNamespace}`
  printReport(
    { about, steps, notes: [`Seen as ${self.username}.`] },
    textOption(call, 'output') ?? '',
    terminal,
  )
  return outcomeOf(steps)
}
