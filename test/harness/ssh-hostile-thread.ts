import { createServer, type AddressInfo, type Socket } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import ssh2 from 'ssh2'
import type { Connection } from 'ssh2'
import type { Attack, HostileSetting } from './ssh-hostile.ts'

/** The thread of a hostile server, see ssh-hostile.ts. Posts its port. */
const { attack, hostKey, count, ip, port } = workerData as HostileSetting

/** What ssh2 has for messages of which it has no function. */
interface Wire {
  readonly _protocol: {
    readonly _handlers: Record<string, unknown>
    readonly _packetRW: {
      readonly write: {
        readonly allocStart: number
        alloc(size: number): Buffer
        finalize(packet: Buffer): Buffer
      }
    }
    readonly _cipher: { encrypt(packet: Buffer): void }
    channelOpenConfirm(remote: number, local: number, window: number, packetSize: number): void
  }
}

const GLOBAL_REQUEST = Buffer.from([80, ...string('none@example.com'), 1])
const [IGNORED, UNKNOWN] = [2, 199].map((type) => Buffer.from([type, ...string('x'.repeat(1_000))]))
const HOST_KEYS = Buffer.from([80, ...string('hostkeys-00@openssh.com'), 0, ...hostKeyString()])
const SIGNATURE = Buffer.from([60, ...string(''), ...string('')])
const BANNER = Buffer.from([53, ...string('x'.repeat(1_000)), ...string('en')])
const [SUCCESS, CLIENT_CHANNEL] = [Buffer.from([52]), [0, 0, 0, 0]]
const END = Buffer.from([96, ...CLIENT_CHANNEL])

/** The message that is repeated after the handshake, after the login, and when a command begins. */
const REPEATED: Partial<Record<Attack, readonly ['handshake' | 'login' | 'command', Buffer | undefined]>> = {
  'success before the login': ['handshake', SUCCESS],
  'channel data before the login': ['handshake', data(1_000)],
  'global requests': ['login', GLOBAL_REQUEST],
  'ignored messages': ['login', IGNORED],
  'unknown messages': ['login', UNKNOWN],
  'login after the login': ['login', BANNER],
  'window adjustments': ['command', Buffer.from([93, ...CLIENT_CHANNEL, 0, 0, 0, 1])],
  'data beyond the window': ['command', data(30_000)],
  'tiny packets': ['command', data(1)],
  'words after the end': ['command', words('after the end')],
}

const server = createServer((socket) => {
  Atomics.add(count, 0, 1)
  socket.on('error', () => socket.destroy())
  if (attack === 'greeting') repeat(socket, () => socket.write(`${'x'.repeat(1_000)}\r\n`))
  else if (attack === 'silent after the identification') socket.resume().write('SSH-2.0-Example\r\n')
  else if (attack === 'silent in the key exchange') beSilent(socket)
  else serve(socket)
})
server.listen(port, ip, () => parentPort?.postMessage((server.address() as AddressInfo).port))

function serve(socket: Socket): void {
  const one = new ssh2.Server({ hostKeys: [hostKey], ident: 'OpenSSH_9.9', debug: noteProof })
  const [when, message] = REPEATED[attack] ?? []
  function flood(connection: Connection, now: typeof when): void {
    if (now !== when || message === undefined) return
    repeat(socket, () => send(connection, message))
  }
  one.on('connection', (connection) => {
    connection.on('error', () => undefined)
    if (attack === 'empty packets') takeNothing(connection)
    connection.once('handshake', () => flood(connection, 'handshake'))
    connection.on('authentication', (context) => {
      if (context.method !== 'publickey') context.reject(['publickey'])
      else if (attack === 'banners') repeat(socket, () => send(connection, BANNER))
      else if (attack === 'signatures') askToSign(connection, socket)
      else context.accept()
    })
    connection.on('ready', () => {
      flood(connection, 'login')
      if (attack === 'host keys') send(connection, HOST_KEYS)
      if (attack === 'key exchanges') exchangeKeys(connection)
    })
    connection.on('session', (accept) => {
      accept().on('exec', (agree) => {
        agree()
        if (attack === 'words after the end') send(connection, END)
        flood(connection, 'command')
      })
    })
  })
  one.injectSocket(socket)
}

/** Sends the first message of a key exchange in clear, as another server of ssh2 has it, and no second. */
function beSilent(socket: Socket): void {
  const one = new ssh2.Server({ hostKeys: [hostKey] })
  let sent = 0
  const write = socket.write.bind(socket)
  // The identification, then the first message.
  const first = (bytes: Buffer): boolean => (sent++ < 2 ? write(bytes) : true)
  // Node puts another function there when the client ends the connection.
  Object.defineProperty(socket, 'write', { value: first, writable: true })
  one.on('connection', (connection) => connection.on('error', () => undefined)).injectSocket(socket)
}

/** Confirms channels with packets of no bytes, and a window for 2 GiB. */
function takeNothing(connection: Connection): void {
  const { _protocol: protocol } = connection as unknown as Wire
  const confirm = protocol.channelOpenConfirm.bind(protocol)
  protocol.channelOpenConfirm = (remote, local) => confirm(remote, local, 0x7fffffff, 0)
}

/** Reads none of the signatures: ssh2 answers no second request for a log-in before the first. */
function askToSign(connection: Connection, socket: Socket): void {
  const { _protocol: protocol } = connection as unknown as Wire
  protocol._handlers['USERAUTH_REQUEST'] = () => undefined
  repeat(socket, () => send(connection, SIGNATURE))
}

function noteProof(line: string): void {
  if (line.includes('GLOBAL_REQUEST (hostkeys-prove')) Atomics.add(count, 1, 1)
}

function exchangeKeys(connection: Connection): void {
  connection.rekey(() => exchangeKeys(connection))
}

/** Does it again and again, as fast as the client reads. */
function repeat(socket: Socket, work: () => void): void {
  function more(): void {
    for (let i = 0; i < 200 && !socket.destroyed && !socket.writableNeedDrain; i++) work()
    if (socket.destroyed) return
    if (socket.writableNeedDrain) socket.once('drain', more)
    else setImmediate(more)
  }
  more()
}

function send(connection: Connection, message: Buffer): void {
  const { _packetRW: packets, _cipher: cipher } = (connection as unknown as Wire)._protocol
  const start = packets.write.allocStart
  const packet = packets.write.alloc(message.length)
  packet.set(message, start)
  cipher.encrypt(packets.write.finalize(packet))
}

function data(length: number): Buffer {
  return Buffer.from([94, ...CLIENT_CHANNEL, ...string('x'.repeat(length))])
}

function words(content: string): Buffer {
  return Buffer.from([95, ...CLIENT_CHANNEL, 0, 0, 0, 1, ...string(content)])
}

function hostKeyString(): readonly number[] {
  const key = ssh2.utils.parseKey(hostKey)
  return key instanceof Error ? [] : string(key.getPublicSSH())
}

function string(content: string | Buffer): readonly number[] {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(content.length)
  return [...length, ...Buffer.from(content)]
}
