import type { ClientChannel } from 'ssh2'
import type { Failure } from '../../domain/failure.ts'
import { connectSSH } from './connection.ts'
import type { SSHConnection, SSHTarget } from './connection.ts'

/** At most one connection to a server at a time, which is reused while it lasts. */
export interface ReconnectingSSH {
  /** Starts a command; on a new connection if the current one is closed or accepts no further channel. */
  run(command: string, protocol: string | undefined): Promise<ClientChannel>
  /** Why the current connection was lost; undefined: it was not. */
  lost(): Failure | undefined
  close(): void
}

/** Starts to connect at once. A failure is reported by the first command. */
export function openReconnectingSSH(target: SSHTarget, signal: AbortSignal): ReconnectingSSH {
  const closing = new AbortController()
  const ending = AbortSignal.any([signal, closing.signal])
  let connecting = connect()
  let [connection, used]: [SSHConnection | undefined, boolean] = [undefined, false]

  function connect(): Promise<SSHConnection> {
    const work = connectSSH(target, ending)
    work.catch(() => undefined)
    return work
  }

  async function reconnect(): Promise<SSHConnection> {
    connection?.close()
    connecting = connect()
    used = false
    connection = await connecting
    return connection
  }

  return {
    async run(command, protocol) {
      connection = await connecting
      if (!connection.isOpen()) connection = await reconnect()
      const reused = used
      used = true
      try {
        return await connection.run(command, protocol)
      } catch (error) {
        // Some servers allow one channel per connection, or close an idle connection.
        if (!reused) throw error
        return (await reconnect()).run(command, protocol)
      }
    },
    lost: () => connection?.lost(),
    close() {
      connection?.close()
      closing.abort()
    },
  }
}
