import { setTimeout as pause } from 'node:timers/promises'
import { Failure } from '../../../functions/domain/failure.ts'
import { makeGroupCommit, type GroupCommit } from '../../../functions/git/group-commit/group-commit.ts'
import { judgeByTip, refuse } from '../../../functions/git/output/push-verdict.ts'
import type { NewCommit, Pushed, Remote, Tip } from '../../../functions/git/remote.ts'
import { land } from '../../../functions/git/writer/land.ts'
import type { Random } from '../objects/random.ts'
import type { MemoryRepository } from '../writer/memory-remote.ts'

/** What all that is drawn in one schedule shares. */
export interface Scene {
  readonly random: Random
  /** How often things go wrong, from 0 to 1. */
  readonly faults: number
  /** Whether everything comes at once, and the server looks at each push for a while. */
  readonly isDense: boolean
  readonly repository: MemoryRepository
  /** Pushes that the server may still carry out. */
  readonly late: Promise<unknown>[]
}

const BROKEN = new Failure('NetworkError', 'It broke.')
const GAVE_WAY = new Failure('Conflict', 'Others need the session.')
const UNREAD = new Failure('AuthenticationFailed', 'Who?')
const DENIED = new Failure('PermissionDenied', 'No.')
const UNMOVED = new Failure('PushRejected', 'It did not move.', { retry: 'slow' })
const REFUSED = { kind: 'refused', failure: new Failure('PushRejected', 'No.'), each: true } as const

/** What a push does at the server. */
type CarryOut = () => Promise<Pushed>

/**
 * A pod that pushes together what may be pushed together. How long the server takes, and what becomes of its answers, is drawn: it
 * refuses commits whose message has `bad`, looks for long at those with `slow`, and may carry out a push long after its answer was lost.
 */
export function drawnPod(scene: Scene): GroupCommit {
  const { random, faults, isDense, repository } = scene
  const { chance, int } = random
  const fails = (often: number): boolean => chance(often * faults)
  /** Where the branch is, as the engine remembers it. */
  let remembered: string | undefined

  function drawnRemote(remote: Remote, signal: AbortSignal): Remote {
    let messages: readonly string[] = []

    async function readTip(wanted: Parameters<Remote['readTip']>[0]): Promise<Tip | 'moved'> {
      signal.throwIfAborted()
      if (remembered !== undefined && wanted.since === undefined && wanted.fresh !== true)
        return { branch: 'main', commit: remembered, exists: true, remembered: true }
      if (chance(0.3)) await pause(int(300))
      signal.throwIfAborted()
      if (fails(0.03)) return 'moved'
      if (fails(0.03)) throw BROKEN
      const tip = await remote.readTip(wanted)
      if (tip !== 'moved') remembered = tip.commit
      return tip
    }

    async function writeCommits(tip: Tip, commits: readonly NewCommit[]): Promise<readonly string[]> {
      if (chance(0.1)) await pause(int(600))
      messages = commits.map(({ message }) => message)
      return remote.writeCommits(tip, commits)
    }

    async function push(tip: Tip, head: string, remaining = () => Infinity): Promise<Pushed> {
      if (chance(0.2)) await pause(int(chance(0.2) ? 4_000 : 200))
      signal.throwIfAborted()
      // Another engine takes over, or its time to begin is over.
      if (fails(0.02) || remaining() <= 0) return { kind: 'race' }
      const isBad = messages.some((message) => message.includes('bad'))
      const carryOut = async (): Promise<Pushed> => (isBad ? REFUSED : remote.push(tip, head))
      const pushed = await answer(carryOut, { tip, head })
      if (pushed.kind === 'landed') remembered = head
      return pushed
    }

    async function answer(carryOut: CarryOut, push: { tip: Tip; head: string }): Promise<Pushed> {
      const later = (mostMs: number): unknown => scene.late.push(pause(int(mostMs)).then(carryOut))
      const byTip = (): Promise<Pushed> => judgeByTip(async () => repository.tip(), push, refuse(BROKEN))
      if (fails(0.02)) return { kind: 'refused', failure: UNREAD, each: false, unread: true }
      if (fails(0.02)) return { kind: 'refused', failure: DENIED, each: false, said: true }
      if (fails(0.02)) return { kind: 'race', unless: UNMOVED }
      const isLost = fails(0.08)
      if (isLost && chance(0.8)) later(chance(0.5) ? 2_000 : 60_000)
      if (isLost && chance(0.25)) throw BROKEN
      await pause(lookMs(), undefined, { signal }).catch(() => {
        if (!isLost && chance(0.6)) later(20_000)
        signal.throwIfAborted()
      })
      if (isLost) return byTip()
      const pushed = await carryOut()
      if (fails(0.03)) return byTip()
      if (chance(0.3)) await pause(int(100))
      return pushed
    }

    function lookMs(): number {
      if (fails(0.15)) return 1_000 + int(6_000)
      return messages.some((message) => message.includes('slow'))
        ? 2_000 + int(4_000)
        : int(isDense ? 700 : 60)
    }

    return { ...remote, signal, readTip, writeCommits, push }
  }

  return makeGroupCommit({
    async acquire(owner, signal) {
      if (fails(0.2)) await pause(int(400), undefined, { signal }).catch(() => undefined)
      signal.throwIfAborted()
      if (fails(0.03)) setTimeout(() => owner.giveWay?.(GAVE_WAY), int(5_000))
      return () => undefined
    },
    async *land({ changes, ...landing }) {
      const remote = repository.open()
      try {
        yield* land(drawnRemote(remote, landing.signal), { ...landing, batch: changes })
      } finally {
        await remote.close()
      }
    },
  })
}
