import type { RepositoryAddress } from '../../domain/repository/address.ts'
import type { Release } from '../../domain/network/budget.ts'
import type { EditParts } from '../../edits/edits.ts'
import type { Kind } from '../../domain/resource/api-names.ts'
import { FUNCTION_METRICS } from '../../domain/telemetry/function-metrics.ts'
import type { Meter, Metric } from '../../domain/telemetry/meter.ts'
import type { Holder, Turn, World } from '../../world.ts'
import { makeBudget } from './budget.ts'
import { API_SESSION, preparing, PREPARING, sessionCost, type Cost } from './cost.ts'
import { rememberKeptSizes } from './kept-sizes.ts'
import type { LaneFigures } from './lane-bounds.ts'
import type { Hold, Lane } from './lane.ts'
import type { Shares } from './shares.ts'

/** Whose session it is. */
export interface SessionHolder {
  /** Of the first resource that needs it. */
  readonly namespace: string
  readonly address: RepositoryAddress
  /** The session; no other has the same. */
  readonly name: string
  /** As of a Holder. */
  readonly giveWay?: Holder['giveWay']
}

/** Who needs a large session; see functions/git/session/binary-engine.ts. */
type LargeHolder = Omit<Holder, 'admitted'>

/** What bounds the work of a pod. */
export interface Turns {
  /** A turn to make a change, or for a whole attempt at a pull request. */
  readonly takeTurn: World['takeTurn']
  /** Waits for a session with a Git remote. Throws Conflict if the signal fires. */
  readonly acquireSession: (holder: SessionHolder, signal: AbortSignal) => Promise<Release>
  /** Waits for a session that takes more than others. Throws Conflict if the signal fires. */
  readonly acquireLarge: (holder: LargeHolder, signal: AbortSignal) => Promise<Release | undefined>
  /** Waits for the memory in which a file is edited. Throws Conflict if the signal fires. */
  readonly acquireEdit: EditParts['acquire']
  readonly mostEditMiB: number
  /** Refuses all attempts that wait for a first turn and all that come later; what has begun goes on. */
  readonly close: () => void
  /** What is at work. */
  readonly inHand: () => readonly string[]
  /** How busy the pod is, by what it does. */
  readonly figures: () => Readonly<Record<Work, LaneFigures>>
}

/** What turns are for: making changes, sessions with remotes and APIs, sessions that take more than others, edits. */
export type Work = 'change' | 'session' | 'large session' | 'edit'

/** What a change that waits for its push takes besides its content and its resource: its login, its open request. */
const WAITING_BYTES = 36 * 1024
const MIB = 1024 * 1024

/**
 * Shares the pod among what costs something: changes that are made, and sessions. Changes wait for their push without a
 * turn: only their bytes count then. `isBusy`: as of makeBudget.
 */
export function openTurns({ stock, ...shares }: Shares, isBusy?: () => boolean): Turns {
  const budget = makeBudget(stock, { isBusy })
  // Opened first, served first: the later ones never wait for the earlier.
  const edits = budget.open(shares.edits)
  const large = budget.open(shares.large)
  const sessions = budget.open(shares.sessions)
  const changes = budget.open(shares.changes)
  const kept = rememberKeptSizes()
  let edited = 0

  function costOf({ namespace, objects, bytes }: Holder): Cost {
    const cost = withBytes(preparing(objects), bytes)
    const memoryMiB = Math.max(cost.memoryMiB, kept.of(namespace))
    return { ...cost, memoryMiB: Math.min(memoryMiB, shares.mostChangeMiB) }
  }

  async function takeTurn(kind: Kind, holder: Holder): Promise<Turn | undefined> {
    const acquire = (by: Holder, signal?: AbortSignal): ReturnType<Lane['acquire']> =>
      kind === 'GitCommit'
        ? changes.acquire(costOf(by), by, signal)
        : sessions.acquire(withBytes(API_SESSION, by.bytes), by, signal)
    const first = await acquire(holder)
    // An event of the same resource may wait as well, and must not count as this attempt. Its objects are read by then.
    const resource = `${holder.resource} again`
    const resumed = { ...holder, resource, admitted: true, resumes: true, objects: 1 }
    const keeps = (bytes: number): void => kept.add(holder.namespace, bytes / MIB)
    return first && turnOf(first, (signal) => acquire(resumed, signal), keeps)
  }

  return {
    takeTurn,
    async acquireSession({ namespace, address, name, giveWay }, signal) {
      const holder = { namespace, host: address.host, resource: name, admitted: true, giveWay }
      const held = await sessions.acquire(sessionCost(address), holder, signal)
      return held?.release ?? (() => undefined)
    },
    mostEditMiB: shares.editMiB,
    async acquireEdit(memoryMiB, { namespace, signal }) {
      const holder = { namespace, host: '', resource: `edit ${(edited += 1)}`, admitted: true }
      const held = await edits.acquire({ memoryMiB, diskMiB: 0 }, holder, signal)
      return held?.release ?? (() => undefined)
    },
    acquireLarge: async (holder, signal) => (await large.acquire(shares.largeCost, holder, signal))?.release,
    close() {
      changes.close()
      sessions.close()
    },
    inHand: () => [...changes.inHand(), ...sessions.inHand()],
    figures: () => ({
      change: changes.figures(),
      session: sessions.figures(),
      'large session': large.figures(),
      edit: edits.figures(),
    }),
  }
}

/** The same with so many bytes besides, as whole MiB: what waits is looked through by what it takes. */
function withBytes(cost: Cost, bytes = 0): Cost {
  return { ...cost, memoryMiB: cost.memoryMiB + Math.ceil(bytes / MIB) }
}

/** Measures how busy the pod is, whenever its metrics are read. */
export function measureTurns({ figures }: Pick<Turns, 'figures'>, meter: Meter): void {
  const follow = (metric: GaugeOfWork, value: keyof LaneFigures): void =>
    meter.follow(metric, () =>
      Object.entries(figures()).map(([work, lane]) => ({ labels: { work }, value: lane[value] })),
    )
  follow(FUNCTION_METRICS.running, 'running')
  follow(FUNCTION_METRICS.waiting, 'waiting')
  follow(FUNCTION_METRICS.waitingAge, 'oldestSeconds')
  follow(FUNCTION_METRICS.heldBytes, 'heldBytes')
}

type GaugeOfWork = Metric & { readonly labels: readonly ['work'] }

function turnOf(
  first: Hold,
  acquire: (signal: AbortSignal) => Promise<Hold | undefined>,
  keeps: (bytes: number) => void,
): Turn {
  let held: Hold | undefined = first
  let parked = false
  let released = false

  return {
    made(bytes) {
      const memoryMiB = Math.max(PREPARING.memoryMiB, (bytes + WAITING_BYTES) / MIB)
      held?.shrink({ ...PREPARING, memoryMiB })
    },
    park(bytes) {
      const all = bytes + WAITING_BYTES
      keeps(all)
      held?.park(all)
      parked = true
    },
    async resume(signal) {
      if (!parked) return
      parked = false
      // Before it waits: those who would wait for each other's bytes would wait for ever.
      held?.release()
      held = await acquire(signal)
      if (released) held?.release()
    },
    release() {
      released = true
      held?.release()
    },
  }
}
