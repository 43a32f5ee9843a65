import { claim, isAtInsecureHost } from './claim.ts'
import type { Claim } from './claim.ts'
import { mayStart } from '../domain/resource/attempt-state.ts'
import { unlessAborted } from '../domain/deadline.ts'
import { Failure, asFailure } from '../domain/failure.ts'
import { parse, requireSound } from '../domain/schema/parse.ts'
import type { ObjectRef } from '../domain/resource/resource.ts'
import type { Outcome } from '../domain/resource/status.ts'
import type { Find } from './find.ts'
import { commitObject } from '../commit/commit-object.ts'
import { openPullRequest } from '../pull-request/open-pull-request.ts'
import { report } from './report.ts'
import { writeResult } from './write-result.ts'
import type { World } from '../world.ts'

/** Whoever hears the signal has this long to say what it was waiting for. */
const GRACE_MS = 500

/**
 * Takes up what an event hints at: reads the resource, stops where nothing is to be done, otherwise makes one
 * attempt and writes what became of it; a generation that came meanwhile is taken up at once after it.
 * Throws a Failure only where nothing could be written: the sender or the sweep comes again.
 */
export async function handle(ref: ObjectRef, find: Find, world: World): Promise<void> {
  const found = await find(ref)
  if (found === undefined || !mayStart(found.envelope, world.now())) return
  const { kind, namespace, name } = ref
  const resource = `${kind} ${namespace}/${name}`
  const parsed = parse(found.whole)
  const release = await world.acquire({ namespace, host: parsed.target?.address.host ?? '', resource })
  if (release === undefined) return
  try {
    let current = await claim({ envelope: found.envelope, parsed }, world)
    while (current !== undefined) current = await attempt(current, world)
  } finally {
    release()
  }
}

/** One attempt, from claim to written status. Answers the claim of a newer generation, where one came. */
async function attempt(current: Claim, world: World): Promise<Claim | undefined> {
  const began = world.now()
  const { attemptDeadline } = world.settings
  const deadline = AbortSignal.timeout(attemptDeadline * 1000)
  const late = (): Failure => outOfTime(attemptDeadline)
  const result = await unlessAborted(run(current, world, deadline), graceAfter(deadline), late).catch(
    asFailure,
  )
  const settled = await writeResult(current.envelope, result, world)
  const insecure = isAtInsecureHost(current.parsed, world.settings)
  await report({ claim: current.envelope, result, began, settled, insecure }, world)
  const { newer } = settled
  if (newer === undefined) return undefined
  return claim({ envelope: newer.envelope, parsed: parse(newer.whole) }, world, current.envelope)
}

async function run(current: Claim, world: World, signal: AbortSignal): Promise<Outcome> {
  const resource = requireSound(current.envelope, current.parsed)
  const attempt = { again: current.again, signal }
  if (resource.kind === 'PullRequest') return openPullRequest(resource, world, attempt)
  return commitObject(resource, world, attempt)
}

/** Fires a little after the deadline: not every call can be broken off, but nobody waits for it any longer. */
function graceAfter(deadline: AbortSignal): AbortSignal {
  const over = new AbortController()
  deadline.addEventListener('abort', () => setTimeout(() => over.abort(), GRACE_MS), { once: true })
  return over.signal
}

function outOfTime(seconds: number): Failure {
  return new Failure(
    'Timeout',
    `The attempt took longer than the ${seconds} s that it may; it is tried again.`,
  )
}
