import { anySignal } from '../domain/deadline.ts'
import type { ChangeDraft } from '../domain/commit/change.ts'
import type { Login } from '../domain/credentials/login.ts'
import { asFailure, type Failure } from '../domain/failure.ts'
import type { Acquire } from './group-commit/first-session.ts'
import { stopIfAborted } from './process/launcher.ts'
import type { Remote, RemoteTarget } from './remote.ts'
import type { PushOptions } from './writer/pending-change.ts'

/** What the caller of a search may add. */
export type SearchOptions = Pick<PushOptions, 'engineChosen' | 'span'>

/** A session for one change in which nothing is written. */
export interface ReadingSession extends SearchOptions {
  readonly change: ChangeDraft
  readonly login: Login
  readonly signal: AbortSignal
}

/** The sessions that only read. */
export interface Readings {
  /** Does work in a session of its own, which ends with it, and when Git is closed at the latest. @throws Failure */
  read<T>(session: ReadingSession, work: (remote: Remote) => Promise<T>): Promise<T>
  /** Resolves when all have ended, however they did. */
  ended(): Promise<unknown>
}

/** What sessions are opened with. */
export interface ReadingParts {
  /** Waits until a session may begin. */
  readonly acquire: Acquire
  readonly open: (target: Omit<RemoteTarget, 'route'>) => Promise<Remote>
  /** Fires when Git is closed. */
  readonly closing: AbortSignal
}

/** Opens no session yet. */
export function openReadings({ acquire, open, closing }: ReadingParts): Readings {
  const readings = new Set<Promise<unknown>>()

  async function readIn<T>(
    { change, login, signal, ...options }: ReadingSession,
    work: (remote: Remote) => Promise<T>,
  ): Promise<T> {
    const { repository: address, branch, namespace } = change
    const owner = { address, namespace }
    const gaveWay = new AbortController()
    const seeker = { ...owner, giveWay: (because: Failure) => gaveWay.abort(because) }
    const release = await acquire(seeker, signal).catch((error: unknown) => {
      stopIfAborted(signal)
      throw error
    })
    try {
      const either = anySignal([signal, gaveWay.signal])
      const remote = await open({ ...owner, branch, login, signal: either, ...options })
      return await work(remote).finally(() => remote.close())
    } finally {
      release()
    }
  }

  return {
    async read(session, work) {
      const signal = anySignal([session.signal, closing])
      const reading = readIn({ ...session, signal }, work)
      readings.add(reading)
      try {
        return await reading
      } catch (error) {
        throw asFailure(error)
      } finally {
        readings.delete(reading)
      }
    },
    ended: () => Promise.allSettled(readings),
  }
}
