import { setTimeout as wait } from 'node:timers/promises'
import type { KeyLogin } from '../../domain/credentials/login.ts'
import type { SSHTarget } from '../ssh-worker/messages.ts'
import type { SSHSession } from './session.ts'
import type { Lease } from './threads/thread-places.ts'

/** At which server, and with which login, a session is used. */
export interface SessionUse extends Pick<SSHTarget, 'address' | 'addresses'> {
  readonly login: KeyLogin
}

/** Sessions that were closed in good order, each in its thread. */
export interface KeptSessions {
  /** Takes one that is open, of the same repository and login, at one of the addresses of the target; undefined: there is none. */
  readonly take: (lease: Lease, target: SessionUse) => Promise<SSHSession | undefined>
  /** Closes those of other namespaces in the thread, which has gone on for this one. */
  readonly closeOthers: (lease: Lease, namespace: string) => void
  /** Keeps one that nobody uses any more, if it is open once its programs have ended, and gives its lease back. */
  readonly giveBack: (session: SSHSession, lease: Lease, target: SessionUse) => void
}

/** How long the programs of a session may take to end after it was closed, if it is to be kept. */
const PROGRAM_END_MS = 250

interface KeptSession {
  readonly namespace: string
  /** Undefined: it was in no state to be kept. */
  readonly settled: Promise<SSHSession | undefined>
}

/** Sessions of a thread by what they can be used for. */
type Kept = Map<string, KeptSession>

/** Keeps each for `keepMs`, and one for each repository and login. */
export function keepSessions(keepMs: number): KeptSessions {
  const keptIn = new WeakMap<Lease['thread'], Kept>()

  function keptOf({ thread }: Lease): Kept {
    const found = keptIn.get(thread) ?? new Map<string, KeptSession>()
    keptIn.set(thread, found)
    return found
  }

  return {
    async take(lease, target) {
      const key = keyOf(target)
      const closed = keptOf(lease).get(key)
      keptOf(lease).delete(key)
      const session = await closed?.settled
      if (session?.isOpen() === true && target.addresses.includes(session.remoteAddress)) return session
      session?.close()
      return undefined
    },
    closeOthers(lease, namespace) {
      const kept = keptOf(lease)
      for (const [key, other] of kept) {
        if (other.namespace === namespace) continue
        kept.delete(key)
        void other.settled.then((session) => session?.close())
      }
    },
    giveBack(session, lease, target) {
      const key = keyOf(target)
      const kept = keptOf(lease)
      if (kept.has(key)) session.close()
      const settled = settle(session).finally(lease.release)
      if (!kept.has(key)) kept.set(key, { namespace: target.login.namespace, settled })
      void settled.then((closed) => setTimeout(forget, closed === undefined ? 0 : keepMs).unref())
      function forget(): void {
        if (kept.get(key)?.settled !== settled) return
        kept.delete(key)
        session.close()
      }
    },
  }
}

/** The session once its programs have ended; closes it if they do not, or it is closed already. */
async function settle(session: SSHSession): Promise<SSHSession | undefined> {
  if (session.isOpen()) await Promise.race([session.idle(), wait(PROGRAM_END_MS, undefined, { ref: false })])
  if (session.isOpen() && session.isIdle()) return session
  session.close()
  return undefined
}

function keyOf({ address, login }: Pick<SessionUse, 'address' | 'login'>): string {
  return JSON.stringify([address.text, login.namespace, login.identity, login.hostKeys])
}
