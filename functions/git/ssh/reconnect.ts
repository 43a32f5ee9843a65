import { anySignal } from '../../domain/deadline.ts'
import type { Failure } from '../../domain/failure.ts'
import type { SessionTurn } from '../remote.ts'
import { openInTurn } from './open-in-turn.ts'
import type { SSHProgram, SSHSession } from './session.ts'
import type { SessionTarget, SSHSessions } from './sessions.ts'

/** At most one session with a server at a time, which is reused while it lasts. */
export interface ReconnectingSSH {
  /** Starts a command; in a new session if the current one is closed or accepts no further program. */
  exec(command: string, protocol: string | undefined): Promise<SSHProgram>
  /** Why the current connection was lost; undefined: it was not. */
  lost(): Failure | undefined
  close(): void
}

/** The host, the login of a namespace, and the turn of the branch in which it is used. */
export interface ReconnectingTarget extends SessionTarget {
  readonly turn?: SessionTurn | undefined
}

/** Starts to connect at once. A failure is reported by the first command. */
export function openReconnectingSSH(
  sessions: SSHSessions,
  { turn, ...target }: ReconnectingTarget,
  signal: AbortSignal,
): ReconnectingSSH {
  const closing = new AbortController()
  const ending = anySignal([signal, closing.signal])
  let connecting = connect()
  let session: SSHSession | undefined

  function connect(): Promise<SSHSession> {
    const work = openInTurn((logsIn) => sessions.open({ ...target, logsIn }, ending), turn, ending)
    work.catch(() => undefined)
    return work
  }

  async function reconnect(): Promise<SSHSession> {
    session?.close()
    connecting = connect()
    session = await connecting
    return session
  }

  return {
    async exec(command, protocol) {
      session = await connecting
      if (!session.isOpen()) session = await reconnect()
      const isReused = session.isUsed()
      try {
        return await session.exec(command, protocol)
      } catch (error) {
        // Some servers allow one channel per connection, or close an idle connection.
        if (!isReused) throw error
        return (await reconnect()).exec(command, protocol)
      }
    },
    lost: () => session?.lost(),
    close() {
      // A session that is open is given back; one that is not open yet is given up.
      session?.close()
      closing.abort()
    },
  }
}
