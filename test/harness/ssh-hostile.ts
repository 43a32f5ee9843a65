import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { makeKey } from './ssh-keys.ts'

/** What a hostile SSH server does to each connection, without an end. */
export type Attack =
  /** Lines before the identification. */
  | 'greeting'
  /** Nothing after the identification. */
  | 'silent after the identification'
  /** Nothing after the first message of the key exchange. */
  | 'silent in the key exchange'
  /** The login succeeds before it was asked for. */
  | 'success before the login'
  | 'channel data before the login'
  | 'banners'
  /** Asks for a signature by the same key again and again. */
  | 'signatures'
  | 'global requests'
  /** Says once which host keys it has, as OpenSSH does. */
  | 'host keys'
  | 'ignored messages'
  | 'unknown messages'
  | 'window adjustments'
  | 'key exchanges'
  /** After one command has begun: bytes of the channel, far beyond its window. */
  | 'data beyond the window'
  /** Packets of one byte in the channel's window. */
  | 'tiny packets'
  /** Standard error of the channel after its end. */
  | 'words after the end'
  /** Takes packets of no bytes. */
  | 'empty packets'
  /** Messages for the login once it is over. */
  | 'login after the login'

/** A server in a thread of its own, so that its work is not that of the event loop under test. */
export interface HostileServer {
  readonly url: string
  readonly knownHosts: string
  /** How many connections were accepted. */
  connections(): number
  /** How often a proof of host keys was asked for. */
  proofs(): number
  readonly close: () => Promise<void>
}

/** What the thread is given. */
export interface HostileSetting {
  readonly attack: Attack
  readonly hostKey: string
  /** Counts connections, and proofs of host keys that were asked for. */
  readonly count: Int32Array
  readonly ip: string
  readonly port: number
}

/** Starts the server; default: on 127.0.0.1, and a free port. */
export async function startHostileServer(
  attack: Attack,
  { ip = '127.0.0.1', port: wanted = 0 } = {},
): Promise<HostileServer> {
  const { privateKey, publicKey } = makeKey('-t', 'ed25519')
  const count = new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
  const workerData: HostileSetting = { attack, hostKey: privateKey, count, ip, port: wanted }
  const thread = new Worker(new URL('ssh-hostile-thread.ts', import.meta.url), { workerData })
  const [port] = (await once(thread, 'message')) as [number]
  return {
    url: `ssh://git@${ip}:${port}`,
    knownHosts: `[${ip}]:${port} ${publicKey}`,
    connections: () => Atomics.load(count, 0),
    proofs: () => Atomics.load(count, 1),
    async close() {
      await thread.terminate()
    },
  }
}
