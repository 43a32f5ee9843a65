import { CONFLICT } from '../cluster/cluster.ts'
import { carriesClaim, isGivenUp, mayHavePushed, mayStart } from '../domain/resource/attempt-state.ts'
import { envelopeOf, refOf } from '../domain/resource/envelope.ts'
import { Failure } from '../domain/failure.ts'
import { isInsecure } from '../domain/repository/insecure-hosts.ts'
import { parse } from '../domain/schema/parse.ts'
import type { Parsed } from '../domain/schema/parse.ts'
import type { Envelope, Status } from '../domain/resource/resource.ts'
import { claimed, failed } from '../domain/resource/status.ts'
import { report } from './report.ts'
import type { AttemptSettings, World } from '../world.ts'

/** How often a write is tried because somebody else changed the resource meanwhile. */
const TRIES = 8

/** A resource as it was read: its envelope decides whether an attempt starts, whatever its spec was parsed to. */
export interface Claimable {
  readonly envelope: Envelope
  readonly parsed: Parsed
}

/** A resource that carries our claim. */
export interface Claim extends Claimable {
  /** An earlier attempt at this generation and requested-at may have pushed already. */
  readonly again: boolean
}

/**
 * Claims the resource by writing Progressing, guarded by the resourceVersion that was read, so that one attempt
 * gets it however many try. Undefined where it is gone or no longer to be started. `heldBefore` is our own claim
 * that a newer generation ends: it does not hold us off.
 */
export async function claim(
  found: Claimable,
  world: World,
  heldBefore?: Envelope,
): Promise<Claim | undefined> {
  let seen = found
  for (let tries = 0; tries < TRIES; tries += 1) {
    const ours = heldBefore !== undefined && carriesClaim(seen.envelope, heldBefore)
    if (seen.envelope.metadata.deletionTimestamp !== undefined) return undefined
    if (!ours && !mayStart(seen.envelope, world.now())) return undefined
    if (isGivenUp(seen.envelope, world.settings.retryLimit)) return giveUp(seen, world)
    const status = statusOfClaim(seen.envelope, world)
    const whole = await write(seen.envelope, status, world)
    if (whole === undefined) return undefined
    const stored = readAgain(seen, whole)
    // An answer may be lost on its way: then a second try meets what the first one has written.
    if (carriesClaim(stored.envelope, { ...seen.envelope, status })) {
      return { ...stored, again: mayHavePushed(seen.envelope) }
    }
    seen = stored
  }
  throw new Failure('Conflict', 'Other writers kept changing the resource; it is tried again.')
}

// A spec changes with the generation alone: so it is parsed once for each.
function readAgain({ envelope: before, parsed }: Claimable, whole: unknown): Claimable {
  const envelope = envelopeOf(whole)
  const { uid, generation } = envelope.metadata
  const isSame = uid === before.metadata.uid && generation === before.metadata.generation
  return { envelope, parsed: isSame ? parsed : parse(whole) }
}

/** Is the repository at a host of INSECURE_HOSTS? */
export function isAtInsecureHost(
  { target }: Parsed,
  { insecureHosts }: Pick<AttemptSettings, 'insecureHosts'>,
): boolean {
  return target !== undefined && isInsecure(target.address, insecureHosts)
}

/** What is stored after the write, whoever was first; undefined where the resource is gone. */
async function write(resource: Envelope, status: Status, world: World): Promise<unknown> {
  const stored = await world.cluster.patchStatus(resource, status)
  return stored === CONFLICT ? world.cluster.readResource(refOf(resource)) : stored
}

function statusOfClaim(resource: Envelope, { now, random, settings }: World): Status {
  return claimed(resource, { now: now(), deadlineSeconds: settings.attemptDeadline, random: random() })
}

/** Nobody came back from the last attempt: it is written and reported here, as the last one. */
async function giveUp({ envelope: resource, parsed }: Claimable, world: World): Promise<undefined> {
  const began = world.now()
  const { retryLimit: limit } = world.settings
  const message = `Gave up after ${resource.status?.attempts} attempts; the last one did not come to its end: whoever runs Commitlet has to look.`
  const result = new Failure('RetryBudgetExhausted', message)
  const status = failed(resource, result, { now: began, limit, random: 0 })
  const stored = await world.cluster.patchStatus(resource, status)
  // Another writer was first, and reports what it wrote.
  if (stored === CONFLICT) return
  const settled = { written: { envelope: envelopeOf(stored), status } }
  const insecure = isAtInsecureHost(parsed, world.settings)
  await report({ claim: resource, result, began, settled, insecure }, world)
}
