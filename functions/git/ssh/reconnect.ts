import type { ClientChannel } from 'ssh2'
import type { Failure } from '../../domain/failure.ts'
import { connectSSH } from './connection.ts'
import type { SSHConnection, SSHTarget } from './connection.ts'

/** One connection to a server at a time: the same as long as it lasts. */
export interface ReconnectingSSH {
  /** Starts a command; on a new connection where the present one is gone or takes no further channel. */
  run(command: string, protocol: string | undefined): Promise<ClientChannel>
  /** Why the present connection is gone; undefined: it is not. */
  lost(): Failure | undefined
  close(): void
}

/** Begins to connect at once. Nobody is told of a failure before the first command. */
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
      const again = used
      used = true
      try {
        return await connection.run(command, protocol)
      } catch (error) {
        // Some servers take one channel for each connection, or close one that rests.
        if (!again) throw error
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
