import { CONFLICT } from '../cluster/cluster.ts'
import { carriesClaim } from '../domain/resource/attempt-state.ts'
import { envelopeOf, refOf } from '../domain/resource/envelope.ts'
import type { Envelope } from '../domain/resource/resource.ts'
import { restingStatus } from '../domain/resource/resting.ts'
import type { World } from '../world.ts'
import { keptChanging, MAX_WRITES } from './status-writes.ts'

/**
 * Lets the status of a resource for which no attempt starts tell whether it is suspended, in one write and only if it does
 * not tell already. `held`: our own claim, whose attempt has ended. Throws a Failure if the status could not be written.
 */
export async function rest(found: Envelope, world: World, held?: Envelope): Promise<undefined> {
  let latest = found
  for (let writes = 0; writes < MAX_WRITES; writes += 1) {
    const isOurs = held !== undefined && carriesClaim(latest, held)
    const known = isOurs ? { late: held.status ?? {} } : {}
    const status = restingStatus(latest, { now: world.now(), isOurs, ...known })
    if (status === undefined) return
    const stored = await world.cluster.patchStatus(latest, status)
    if (stored !== CONFLICT) return tell(latest, envelopeOf(stored), world)
    const whole = await world.cluster.readResource(refOf(latest))
    if (whole === undefined) return
    latest = envelopeOf(whole)
  }
  throw keptChanging()
}

async function tell(before: Envelope, after: Envelope, world: World): Promise<undefined> {
  const [was, is] = [before, after].map(({ status }) => status?.phase === 'Suspended')
  if (was === is) return
  const { namespace, name, uid, generation } = after.metadata
  const fields = { kind: after.kind, namespace, name, uid, generation, phase: after.status?.phase }
  world.log.info(fields, is === true ? 'suspended' : 'resumed')
  await world.cluster.recordEvent(after, is === true ? SUSPENDED : RESUMED)
}

const SUSPENDED = {
  type: 'Normal',
  reason: 'Suspended',
  message: 'spec.suspend is true; nothing starts.',
} as const
const RESUMED = { type: 'Normal', reason: 'Resumed', message: 'spec.suspend is no longer true.' } as const
