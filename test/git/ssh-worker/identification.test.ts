import type { Socket } from 'node:net'
import { Duplex } from 'node:stream'
import ssh2 from 'ssh2'
import t from 'tap'
import { keepFirstLine } from '../../../functions/git/ssh-worker/identification.ts'
import { makeKey } from '../../harness/ssh-keys.ts'

const HOST = makeKey('-t', 'ed25519')

/** What is written to one end is read at the other, in pieces: each by itself, as over a network that is slow. */
function connected(piecesOf: (written: Buffer) => readonly Buffer[]): readonly [Duplex, Duplex] {
  const near: Duplex = end(() => far, piecesOf)
  const far: Duplex = end(
    () => near,
    (written) => [written],
  )
  return [near, far]
}

function end(other: () => Duplex, piecesOf: (written: Buffer) => readonly Buffer[]): Duplex {
  const stream = new Duplex({
    read: () => undefined,
    write(written: Buffer, _encoding, done) {
      const pieces = piecesOf(written).values()
      function next(): void {
        const { value, done: isLast } = pieces.next()
        if (isLast === true) {
          done()
          return
        }
        other().push(value)
        setImmediate(next)
      }
      setImmediate(next)
    },
  })
  // ssh2 asks a socket for it.
  return Object.assign(stream, { setNoDelay: () => stream })
}

/** How a handshake ends if these pieces come in place of the identification of a server. */
async function handshakeAfter(piecesOf: (identification: Buffer) => readonly Buffer[]): Promise<string> {
  let isFirst = true
  const [theirs, ours] = connected((written) => {
    const pieces = isFirst ? piecesOf(written) : [written]
    isFirst = false
    return pieces
  })
  const server = new ssh2.Server({ hostKeys: [HOST.privateKey] })
  server.on('connection', (connection) => connection.on('error', () => undefined))
  server.injectSocket(theirs as unknown as Socket)
  const client = new ssh2.Client()
  const { promise, resolve } = Promise.withResolvers<string>()
  client.on('handshake', () => resolve('done')).on('error', ({ message }) => resolve(message))
  client.connect({ sock: ours, username: 'git', hostVerifier: () => true })
  ours.on('data', keepFirstLine(client))
  const how = await promise
  client.destroy()
  return how
}

function bytesOf(identification: Buffer): readonly Buffer[] {
  return [...identification].map((byte) => Buffer.from([byte]))
}

t.test('an identification is read in one piece and in many', async (t) => {
  t.equal(await handshakeAfter((identification) => [identification]), 'done')
  t.equal(await handshakeAfter(bytesOf), 'done')
})

t.test('lines before it are passed over, however they come', async (t) => {
  const lines = Buffer.from('Welcome\r\nto this server\r\nSSH is spoken here\r\n')
  t.equal(await handshakeAfter((identification) => [lines, identification]), 'done')
  t.equal(await handshakeAfter((identification) => bytesOf(Buffer.concat([lines, identification]))), 'done')
})

t.test('a line without an end is given up', async (t) => {
  const pieces = Array<Buffer>(20).fill(Buffer.alloc(1_000, 'x'))
  t.match(await handshakeAfter(() => pieces), /too long/)
})
