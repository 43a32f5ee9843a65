import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../../../functions/domain/failure.ts'
import type { Change, Landed } from '../../../functions/domain/commit/change.ts'
import type { ClaimCheck } from '../../../functions/domain/resource/claims.ts'
import { watchPushes } from '../../../functions/domain/resource/late-push.ts'
import type { GroupCommit } from '../../../functions/git/group-commit/group-commit.ts'
import { changeOf, loginOf } from '../stage.ts'
import { URL } from '../writer/memory-remote.ts'
import type { Scene } from './drawn-pod.ts'

/** The file whose fields the edits set. */
export const EDITED = 'common.json'

/** What a resource has been through. */
export interface Resource {
  readonly name: string
  /** Where it alone writes; undefined: others do as well. */
  readonly ownPath: string | undefined
  /** What its latest attempt that was Succeeded has written, and for which generation; 0: there was none. */
  readonly landed: { readonly generation: number; readonly text: string }
  /** The generations whose commits are told to be on the branch. */
  readonly committed: readonly number[]
  /** What should not be. */
  readonly complaints: readonly string[]
}

/** What the status of a resource says before an attempt. */
interface State {
  readonly generation: number
  readonly isRetry: boolean
  readonly latePush: boolean
}

const DEADLINE = new Failure('Timeout', 'The time is over.')
const LOST = new Failure('Conflict', 'Another attempt has taken over.')
const OTHERS_WAIT = new Failure('Conflict', 'Others wait.')

/** A resource with a few generations, each of which is attempted until it has landed or is given up, mostly by the first pod. */
export async function drawnResource(
  { random, faults, isDense }: Scene,
  pods: readonly [GroupCommit, GroupCommit],
  index: number,
): Promise<Resource> {
  const { chance, int, pick } = random
  const fails = (often: number): boolean => chance(often * faults)
  const isEdit = chance(0.25)
  const kind = chance(0.12) ? 'bad' : chance(0.12) ? 'slow' : 'good'
  const name = `${kind}${index}`
  const ownPath = isEdit ? EDITED : chance(0.4) ? `f/${name}` : undefined
  const path = ownPath ?? `f/shared${int(2)}`
  const namespace = `ns${int(4)}`
  const login = { ...loginOf(chance(0.95) ? 'a' : 'b'), ofOperator: true as const }
  /** Every second generation asks for what was there before. */
  const goesBack = chance(0.4)
  const committed: number[] = []
  const complaints: string[] = []
  let landed: Resource['landed'] = { generation: 0, text: '' }
  let state: State = { generation: 1, isRetry: false, latePush: false }

  async function edit(before: Uint8Array, text: string): Promise<Uint8Array> {
    if (chance(0.3)) await pause(int(chance(0.2) ? 4_000 : 100))
    const fields: object = JSON.parse(Buffer.from(before).toString())
    return Buffer.from(JSON.stringify({ ...fields, [name]: text }))
  }

  function changeFor(text: string): Change {
    const { generation, isRetry, latePush } = state
    const id = `${name}.${generation}`
    const message = `${name} ${generation}\n\nCommitlet-Id: ${id}\n`
    const file = isEdit
      ? { path, edit: (before: Uint8Array) => edit(before, text) }
      : { path, content: Buffer.from(text) }
    const since = isRetry ? { since: new Date(0) } : {}
    return changeOf(URL, name, { namespace, files: [file], id, message, latePush, ...since })
  }

  function drawnClaim(hasEnded: () => boolean): ClaimCheck {
    const isSlow = fails(0.06)
    const isLost = fails(0.03)
    return {
      async confirm(_afresh, withinMs = Infinity) {
        const milliseconds = isSlow ? int(5_000) : 0
        if (milliseconds > 0) await pause(Math.min(milliseconds, withinMs))
        if (milliseconds > withinMs) throw OTHERS_WAIT
        if (isLost) throw LOST
      },
      remaining: () => (hasEnded() ? 0 : 25_000),
    }
  }

  async function attempt(pod: GroupCommit): Promise<void> {
    const { generation } = state
    const text = `${name} ${goesBack ? generation % 2 : generation}`
    let hasEnded = false
    const watch = watchPushes(state.latePush)
    const pushWatch = {
      ...watch,
      sent() {
        if (hasEnded) complaints.push(`${name} ${generation} was sent after the end of its attempt`)
        watch.sent()
      },
    }
    const deadline = new AbortController()
    const timer = setTimeout(() => deadline.abort(DEADLINE), chance(0.15) ? int(8_000) : 30_000)
    const options = { claim: drawnClaim(() => hasEnded), pushWatch }
    const ending = await pod
      .push(changeFor(text), login, deadline.signal, options)
      .catch((error: unknown) => error as Error)
    hasEnded = true
    clearTimeout(timer)
    state = { generation, isRetry: state.isRetry || watch.hasSent(), latePush: watch.mayBeLate() }
    take(ending, text)
  }

  function take(ending: Landed | Error, text: string): void {
    const { generation, latePush } = state
    if (ending instanceof Error) {
      if (!(ending instanceof Failure) || ending.reason === 'Internal')
        complaints.push(`${name} ${generation} ended in ${String(ending.cause ?? ending)}`)
      const isGivenUp = (ending instanceof Failure && ending.retry === 'never') || chance(0.25)
      if (isGivenUp) state = { generation: generation + 1, isRetry: false, latePush }
      return
    }
    if (kind === 'bad' && ending.outcome !== 'unchanged')
      complaints.push(`${name} ${generation} is ${ending.outcome}`)
    if (ending.outcome !== 'unchanged') committed.push(generation)
    landed = { generation, text }
    state = { generation: generation + 1, isRetry: false, latePush: false }
  }

  await pause(int(isDense ? 400 : 6_000))
  for (let left = 2 + int(5); left > 0; left -= 1) {
    await attempt(chance(0.8) ? pods[0] : pick(pods))
    await pause(int(chance(isDense ? 0.9 : 0.5) ? 50 : 3_000))
  }
  return { name, ownPath, landed, committed, complaints }
}
