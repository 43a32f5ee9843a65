import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import type { LeaseStore, StoredLease } from '../../functions/cluster/sweep/lease.ts'
import { errorLogFields } from '../../functions/domain/error-log-fields.ts'
import { asFailure } from '../../functions/domain/failure.ts'

/** Whose turn it is to sweep. */
export interface SweepTurn {
  /**
   * Resolves when it is this replica's turn, with a signal that fires when it is no longer. Undefined once `stop` was called.
   */
  readonly begun: () => Promise<AbortSignal | undefined>
  /** Ends the turn, and gives the Lease back, so that another replica need not wait until it expires. */
  readonly stop: () => Promise<void>
}

/** In milliseconds. */
export interface TurnTimes {
  /** How long a holder that is not seen to renew the Lease keeps it. A multiple of a second. */
  readonly durationMs: number
  /** From one look at the Lease, or renewal, to the next. */
  readonly lookMs: number
}

/**
 * Three looks fit into the duration. client-go has 15 s and 2 s, for which each replica would call the API server 1,800
 * times an hour.
 */
export const TURN_TIMES: TurnTimes = { durationMs: 30_000, lookMs: 10_000 }

/** The Lease expires without it: events that wait to be sent are worth more of the time before the end. */
const RELEASE_MS = 2_000

/** `elapsed`: milliseconds of a clock that is never set. `now`: for the times in the Lease, which only people read. */
export interface TurnParts {
  readonly lease: LeaseStore
  /** Another name for each process. */
  readonly identity: string
  readonly log: Logger
  readonly elapsed: () => number
  readonly now: () => Date
}

/** What is known of the Lease: its last change, and when this replica saw it. */
interface Seen {
  readonly change: string
  readonly at: number
}

/**
 * Takes turns by a Lease, as client-go's leader election does: a Lease is taken over once it was not changed for its
 * duration by this replica's own clock. Different from there, a replica also has the turn while it does not know that
 * another one has it: without the right to the Lease at once, and where calls fail, some time after the Lease may have
 * expired. Two replicas that sweep at once cost calls; none that sweeps loses commits.
 */
export function takeTurns(parts: TurnParts, times: TurnTimes = TURN_TIMES): SweepTurn {
  const { lease, identity, log, elapsed, now } = parts
  const { durationMs, lookMs } = times
  const stopping = new AbortController()
  let turn: AbortController | undefined
  let waiting = Promise.withResolvers<undefined>()
  let seen: Seen = { change: '', at: elapsed() }
  let renewedAt = -Infinity
  let held: StoredLease | undefined
  let isForbidden = false

  async function look(): Promise<void> {
    try {
      // A holder knows what is stored: it reads only if another one has written.
      const isRenewed = held !== undefined && (await takeOrRenew(held))
      if (!isRenewed) await takeOrRenew(await lease.read())
      isForbidden = false
    } catch (error) {
      fail(error)
    }
  }

  function fail(error: unknown): void {
    const { reason } = asFailure(error)
    const fields = { reason, origin: errorLogFields(error) }
    if (reason !== 'ReferenceForbidden') log.debug(fields, 'the Lease of the sweeps is not available')
    else if (!isForbidden) log.warn(fields, 'no right to the Lease of the sweeps: each replica sweeps')
    isForbidden = reason === 'ReferenceForbidden'
  }

  /** Whether this replica holds it now. */
  async function takeOrRenew(stored: StoredLease | undefined): Promise<boolean> {
    note(stored)
    const isOurs = stored?.holder === identity
    const isFree = stored === undefined || stored.holder === '' || isExpired(stored)
    held = isOurs ? stored : undefined
    if (!isOurs && !isFree) return false
    const renewTime = microTime(now())
    const transitions = (stored?.transitions ?? 0) + (isOurs || stored === undefined ? 0 : 1)
    const acquireTime = isOurs ? stored.acquireTime : renewTime
    const durationSeconds = durationMs / 1000
    const terms = { holder: identity, durationSeconds, acquireTime, renewTime, transitions }
    const sentAt = elapsed()
    held = await lease.write(terms, stored)
    if (held !== undefined) renewedAt = sentAt
    return held !== undefined
  }

  /** Only a change counts, never the times in the Lease: they are of another clock. */
  function note(stored: StoredLease | undefined): void {
    const change = JSON.stringify([stored?.holder, stored?.renewTime, stored?.transitions])
    if (change !== seen.change) seen = { change, at: elapsed() }
  }

  function isExpired({ durationSeconds }: StoredLease): boolean {
    return elapsed() - seen.at >= durationSeconds * 1000
  }

  function hasTurn(): boolean {
    const isHeld = held !== undefined && elapsed() - renewedAt < durationMs - lookMs
    if (isForbidden || isHeld) return true
    // Two more looks than a holder that renews it needs, so that in the usual case the Lease decides.
    return elapsed() - Math.max(seen.at, renewedAt) > durationMs + 2 * lookMs
  }

  function decide(): void {
    const has = hasTurn()
    if (has === (turn !== undefined) || stopping.signal.aborted) return
    log.info({ held: held !== undefined }, has ? 'this replica sweeps' : 'this replica sweeps no longer')
    if (has) begin()
    else end()
  }
  function begin(): void {
    turn = new AbortController()
    waiting.resolve(undefined)
  }
  function end(): void {
    turn?.abort()
    turn = undefined
    waiting = Promise.withResolvers()
  }

  async function follow(): Promise<void> {
    const { signal } = stopping
    while (!signal.aborted) {
      await look()
      decide()
      await pause(lookMs * (1 + Math.random() / 10), undefined, { signal, ref: false }).catch(() => undefined)
    }
  }
  const following = follow()

  async function release(): Promise<void> {
    const stored = await lease.read()
    if (stored?.holder !== identity) return
    const time = microTime(now())
    const { transitions } = stored
    // As client-go releases: a duration of 0 is not valid.
    const terms = { holder: '', durationSeconds: 1, acquireTime: time, renewTime: time, transitions }
    await lease.write(terms, stored)
  }

  return {
    async begun() {
      await waiting.promise
      return stopping.signal.aborted ? undefined : turn?.signal
    },
    async stop() {
      stopping.abort()
      if (turn !== undefined) end()
      waiting.resolve(undefined)
      const released = following.then(() => (held === undefined ? undefined : release().catch(fail)))
      const inTime = new AbortController()
      const late = pause(RELEASE_MS, undefined, { signal: inTime.signal }).catch(() => undefined)
      await Promise.race([released, late])
      inTime.abort()
    },
  }
}

/** metav1.MicroTime. */
function microTime(time: Date): string {
  return time.toISOString().replace('Z', '000Z')
}
