import { randomBytes } from 'node:crypto'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import t from 'tap'
import type { Connection, ServerChannel } from 'ssh2'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { fingerprintOf } from '../../../functions/domain/network/known-hosts.ts'
import { connectSSH } from '../../../functions/git/ssh-worker/connection.ts'
import type { RepositoryOptions } from '../../harness/git-repository.ts'
import { makeRSA, rsaFiles, withoutPrime } from '../../harness/key-files.ts'
import { sample } from '../../harness/sample.ts'
import { startFaultyServer, type SSHFaults } from '../../harness/ssh-faulty.ts'
import { makeKey } from '../../harness/ssh-keys.ts'
import { processesWith } from '../../harness/processes.ts'
import { keyLogin, openSSHStage, sshChange } from '../ssh/stage.ts'
import { outcomeOf, patience, until } from '../stage.ts'
import { drawnTests } from '../../harness/drawn-test.ts'

const NOTHING = { reached: () => undefined, took: () => undefined, lost: () => undefined }

const drawn = drawnTests(t, 3)

const stage = await openSSHStage()
const server = await startFaultyServer()
t.teardown(async () => {
  await stage.close()
  await server.close()
})
const USER = makeKey('-t', 'ed25519')
const RSA = makeKey('-t', 'rsa', '-b', '2048')
const login = keyLogin(USER, server.knownHosts)
let count = 0

/** Pushes to a new repository while the server has these faults. */
async function pushWith(faults: SSHFaults, key = login, options: RepositoryOptions = {}) {
  const repository = await server.createRepository(`acme/shop-${++count}`, options)
  server.commands.length = 0
  server.logins.length = 0
  Object.assign(server.faults, faults)
  const landed = await stage.push(sshChange(repository.url, 'a.md'), key)
  for (const name of Object.keys(faults)) Reflect.deleteProperty(server.faults, name)
  return { repository, landed }
}

t.test('without faults a commit lands with protocol 2, on one connection', async (t) => {
  const { landed, repository } = await pushWith({})
  t.match(landed, { outcome: 'pushed' })
  const path = `'/${repository.name}.git'`
  t.same(server.commands, [`version=2 git-upload-pack ${path}`, `git-receive-pack ${path}`])
  t.equal(server.logins.length, 1)
})

drawn('an RSA key signs with SHA-2, although the server does not announce it', async (t) => {
  const { landed } = await pushWith({}, keyLogin(RSA, server.knownHosts))
  t.match(landed, { outcome: 'pushed' })
  t.same(server.logins, ['sha512'])
})

drawn('an RSA key with a factor that is no prime is refused before any connection', async (t) => {
  const [[, privateKey] = ['', '']] = rsaFiles(withoutPrime(makeRSA(2048)))
  const { landed } = await pushWith({}, keyLogin({ privateKey }, server.knownHosts))
  t.match(landed, { reason: 'CredentialsInvalid' })
  t.same([server.logins, server.commands], [[], []])
})

drawn('a connection that is closed after each command is opened again', async (t) => {
  const { landed } = await pushWith({ closeAfter: 1 })
  t.match(landed, { outcome: 'pushed' })
  t.equal(server.logins.length, 2)
})

drawn('the second connection is checked like the first', async (t) => {
  const other = makeKey('-t', 'ed25519')
  const { landed } = await pushWith({
    closeAfter: 1,
    command() {
      server.faults.hostKeys = [other.privateKey]
      return false
    },
  })
  Reflect.deleteProperty(server.faults, 'hostKeys')
  t.match(landed, { reason: 'HostKeyMismatch' })
  t.match(landed, { message: fingerprintOf(Buffer.from(other.publicKey.split(' ')[1] ?? '', 'base64')) })
})

drawn('of several host keys the known one is requested', async (t) => {
  const ecdsa = makeKey('-t', 'ecdsa')
  const { landed } = await pushWith({ hostKeys: [ecdsa.privateKey, server.hostKey.privateKey] })
  t.match(landed, { outcome: 'pushed' })
})

drawn('a host without a key of a known type is unknown, and its fingerprint is shown', async (t) => {
  const ecdsa = makeKey('-t', 'ecdsa')
  const { landed } = await pushWith({ hostKeys: [ecdsa.privateKey] })
  t.match(landed, { reason: 'HostKeyUnknown', message: /ssh-keyscan -p \d+ 127\.0\.0\.1/ })
  t.match(landed, { message: fingerprintOf(Buffer.from(ecdsa.publicKey.split(' ')[1] ?? '', 'base64')) })
})

/** Writes and closes, without a status where none is given. */
function answer(channel: ServerChannel, words: string, status?: number): true {
  channel.stderr.write(words)
  if (status !== undefined) channel.exit(status)
  channel.end()
  return true
}

const cases: readonly (readonly [
  string,
  SSHFaults,
  { readonly reason: string; readonly message?: RegExp },
])[] = [
  [
    'a channel that is refused',
    { refuse: 'channel' },
    { reason: 'PermissionDenied', message: /does not let it run git-upload-pack/ },
  ],
  [
    'a command that is refused',
    { refuse: 'exec' },
    { reason: 'PermissionDenied', message: /does not let it run git-upload-pack/ },
  ],
  ['too many connections', { disconnect: 12 }, { reason: 'RateLimited' }],
  ['a user who is disconnected', { disconnect: 14 }, { reason: 'AuthenticationFailed' }],
  ['a server that goes down', { disconnect: 11 }, { reason: 'NetworkError' }],
  [
    'a refusal with a message',
    { command: (channel) => answer(channel, 'ERROR: Repository not found.\r\n', 1) },
    { reason: 'RepositoryNotFound' },
  ],
  [
    'a message without a status',
    { command: (channel) => answer(channel, 'ERROR: Repository not found.\r\n') },
    { reason: 'RepositoryNotFound' },
  ],
  [
    'an end without a message',
    { command: (channel) => answer(channel, '', 1) },
    { reason: 'NetworkError', message: /gave no reason/ },
  ],
  [
    'a greeting of the shell',
    { command: (channel) => channel.write('Welcome to Example OS\n') && answer(channel, '', 0) },
    { reason: 'RepositoryNotFound', message: /login prints nothing/ },
  ],
]
for (const [name, faults, expected] of cases) {
  drawn(`${name} is reported`, async (t) => {
    const { landed } = await pushWith(faults)
    t.match(landed, expected)
    t.notMatch(String(landed), /git:\/\//)
  })
}

/** Passes on this many bytes, and breaks the connection at the next. */
function cutAfter(bytes: number, channel: ServerChannel, connection: Connection): void {
  const write = channel.write.bind(channel)
  let left = bytes
  Object.defineProperty(channel, 'write', {
    value(chunk: Buffer) {
      left -= chunk.length
      if (left >= 0) return write(chunk)
      connection.end()
      return true
    },
  })
}

const FILES = { 'large.bin': randomBytes(500_000) }
for (const bytes of sample([0, 100_000, 400_000], (bytes) => (bytes === 0 ? 'nothing' : 'a part'))) {
  drawn(
    `a connection that breaks when ${bytes} bytes are fetched is reported, and no process is left`,
    async (t) => {
      const options = { files: FILES, allowFilter: false }
      const command: SSHFaults['command'] = (channel, _command, connection) => {
        cutAfter(bytes, channel, connection)
        return false
      }
      const { landed } = await pushWith({ command }, login, options)
      t.match(landed, { reason: 'NetworkError', message: /closed the connection/ })
      t.same(await processesWith(stage.tempDir), [])
    },
  )
}

drawn('a lost result of a push is looked up on a new connection', async (t) => {
  // The hook prints more than the refs, which get through.
  const hooks = { 'post-receive': 'printf %02000d 0 >&2' }
  const command: SSHFaults['command'] = (channel, asked, connection) => {
    if (asked.startsWith('git-receive-pack')) cutAfter(1_000, channel, connection)
    return false
  }
  const { landed, repository } = await pushWith({ command }, login, { hooks })
  t.match(landed, { outcome: 'pushed', sha: await repository.git('rev-parse', 'main') })
  t.equal(server.logins.length, 2)
})

drawn('a push that breaks before the commit was sent is reported as that', async (t) => {
  const { landed, repository } = await pushWith({
    command(channel, command, connection) {
      if (command.startsWith('git-receive-pack')) cutAfter(0, channel, connection)
      return false
    },
  })
  t.match(landed, { reason: 'NetworkError', message: /closed the connection/ })
  t.same(await repository.log(), ['Begin'])
})

drawn('endless messages are cut off', async (t) => {
  const { landed } = await pushWith({
    command(channel) {
      const more = (): void => {
        while (channel.writable && channel.stderr.write(Buffer.alloc(65_536, 'x')));
        channel.stderr.once('drain', more)
      }
      more()
      return true
    },
  })
  t.match(landed, { reason: 'NotSupported', message: /more than 16 MiB/ })
})

/** A server that sends this greeting and is silent, or closes. */
async function speaking(
  greeting: string,
  then: 'stay' | 'leave',
): Promise<{ readonly url: string; readonly isLeft: () => boolean; readonly close: () => void }> {
  const sockets: Socket[] = []
  const plain = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined).resume())
    socket.write(greeting)
    if (then === 'leave') socket.end()
  })
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
  const { port } = plain.address() as AddressInfo
  const close = (): void => {
    for (const socket of sockets) socket.destroy()
    plain.close()
  }
  const isLeft = (): boolean => sockets.length > 0 && sockets.every(({ destroyed }) => destroyed)
  return { url: `ssh://git@127.0.0.1:${port}/acme/shop.git`, isLeft, close }
}

for (const [name, greeting, then, reason] of [
  ['says nothing', '', 'stay', 'Timeout'],
  ['greets and is silent', 'SSH-2.0-Example\r\n', 'stay', 'Timeout'],
  ['leaves at once', '', 'leave', 'NetworkError'],
  ['greets and leaves', 'SSH-2.0-Example\r\n', 'leave', 'NetworkError'],
  ['has too many connections', 'Exceeded MaxStartups\r\n', 'leave', 'RateLimited'],
  ['has no time for us', 'Not allowed at this time\r\n', 'leave', 'RateLimited'],
  ['speaks HTTP', 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n', 'leave', 'NetworkError'],
  ['greets with too long a line', 'x'.repeat(20_000), 'stay', 'NetworkError'],
] as const) {
  drawn(`a server that ${name} is ${reason}`, async (t) => {
    const plain = await speaking(greeting, then)
    t.teardown(plain.close)
    const target = {
      address: parseRepositoryAddress(plain.url),
      addresses: ['127.0.0.1'],
      login,
      readyMs: 300,
    }
    const failure = await outcomeOf(connectSSH(target, patience(), NOTHING))
    t.match(failure, { reason })
    t.ok(String(failure).includes(plain.url))
  })
}

drawn('a silent server is given up when the time of the attempt is over', async (t) => {
  const plain = await speaking('SSH-2.0-Example\r\n', 'stay')
  t.teardown(plain.close)
  const abort = new AbortController()
  const work = stage.push(sshChange(plain.url, 'a.md'), login, abort.signal)
  await until('git', async () => (await processesWith(stage.tempDir)).length > 0)
  abort.abort()
  t.match(await work, { reason: 'Timeout' })
  await until('no process', async () => (await processesWith(stage.tempDir)).length === 0)
})

drawn('the next address is tried where one takes no connection', async (t) => {
  const { repository } = await pushWith({})
  const resolve = () => Promise.resolve(['127.0.0.2', '127.0.0.1'])
  const git = stage.open({ resolve })
  t.match(await outcomeOf(git.push(sshChange(repository.url, 'b.md'), login, patience())), {
    outcome: 'pushed',
  })
})

drawn('a key that cannot be read is reported before any connection', async (t) => {
  const before = server.logins.length
  const { landed } = await pushWith({}, { ...login, privateKey: 'none' })
  t.match(landed, { reason: 'CredentialsInvalid' })
  t.ok(server.logins.length <= before)
})

t.test('a command on a connection that has ended is told that it was lost', async (t) => {
  const address = parseRepositoryAddress(`${server.url}/acme/shop.git`)
  const connection = await connectSSH({ address, addresses: ['127.0.0.1'], login }, patience(), NOTHING)
  connection.close()
  t.match(await outcomeOf(connection.run('git-upload-pack', undefined)), { reason: 'NetworkError' })
})

drawn('a connection that cannot begin leaves no socket', async (t) => {
  const plain = await speaking('', 'stay')
  t.teardown(plain.close)
  const broken = {
    ...login,
    get hostKeys(): string {
      throw new Error('unreadable')
    },
  }
  const target = { address: parseRepositoryAddress(plain.url), addresses: ['127.0.0.1'], login: broken }
  await t.rejects(connectSSH(target, patience(), NOTHING), { message: 'unreadable' })
  await until('no socket', () => Promise.resolve(plain.isLeft()))
})
