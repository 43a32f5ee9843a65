import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { getPriority } from 'node:os'
import { buffer } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { openSSHSessions, type SessionTarget, type SSHSessions } from '../../../functions/git/ssh/sessions.ts'
import { makeThreadPlaces, PLACE_BOUNDS } from '../../../functions/git/ssh/threads/thread-places.ts'
import { startWorkerThread, THREAD_LIMITS } from '../../../functions/git/ssh/threads/worker-thread.ts'
import { startFaultyServer } from '../../harness/ssh-faulty.ts'
import { makeKey } from '../../harness/ssh-keys.ts'
import { keyLogin } from './stage.ts'
import { outcomeOf, patience, until } from '../stage.ts'
import { drawnTests } from '../../harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

const server = await startFaultyServer()
const sessions = openSSHSessions()
t.teardown(async () => {
  // Threads that end keep no process alive, which would end before they have.
  const alive = setInterval(() => undefined, 1_000)
  await Promise.all([sessions.close(), server.close()])
  clearInterval(alive)
})
const KEY = makeKey('-t', 'ed25519')

function targetOf(name: string, more: Partial<SessionTarget> = {}): SessionTarget {
  const address = parseRepositoryAddress(`${server.url}/acme/${name}.git`)
  return { address, addresses: ['127.0.0.1'], login: keyLogin(KEY, server.knownHosts), ...more }
}

/** Answers each command with what it is sent. */
server.faults.command = (channel) => {
  channel.on('end', () => {
    channel.exit(7)
    channel.end()
  })
  channel.pipe(channel, { end: false })
  return true
}

/** Runs the echo once, and closes the session. */
async function echoOnce(of: SSHSessions, target: SessionTarget): Promise<string> {
  const session = await of.open(target, patience())
  const { stream } = await session.exec('echo', undefined)
  stream.end('hello')
  const text = (await buffer(stream)).toString()
  session.close()
  return text
}

/** How many logins the work takes. */
async function loginsOf(work: () => Promise<unknown>): Promise<number> {
  const before = server.logins.length
  await work()
  return server.logins.length - before
}

t.test('a program is a stream of bytes in both directions, which tells how it ended', async (t) => {
  const session = await sessions.open(targetOf('bytes'), patience())
  const program = await session.exec('echo', undefined)
  const sent = randomBytes(8_000_000)
  const writing = once(program.stream.end(sent), 'finish')
  const received = await buffer(program.stream)
  t.equal(hashOf(received), hashOf(sent))
  await writing
  await program.closed
  t.match(program.end(), { exitStatus: 7, words: '', tooMuch: false })
  t.equal(session.lost(), undefined)
  session.close()
})

t.test('what programs of a namespace have sent is counted, and more comes when it may be read', async (t) => {
  const seen = { namespace: '', allowed: 0, received: 0, most: 0 }
  const counting = openSSHSessions({
    letRead(namespace, bytes, goOn) {
      seen.namespace = namespace
      void nextTurn().then(() => {
        seen.allowed += bytes
        goOn()
      })
    },
  })
  t.teardown(() => counting.close())
  const session = await counting.open(targetOf('counted'), patience())
  const { stream } = await session.exec('echo', undefined)
  stream.on('data', ({ length }: Buffer) => {
    seen.received += length
    seen.most = Math.max(seen.most, seen.received - seen.allowed)
  })
  stream.end(randomBytes(4_000_000))
  await once(stream, 'end')
  t.match(seen, { namespace: 'shop', received: 4_000_000 })
  t.ok(seen.most <= 512 * 1024, `${seen.most} bytes came before they might`)
})

t.test('no more small packets of a namespace are taken than it may send', async (t) => {
  const [seen, answers] = [{ namespace: '', cost: 0 }, [] as (() => void)[]]
  const counting = openSSHSessions({
    letTake(namespace, cost, goOn) {
      seen.namespace = namespace
      seen.cost += cost
      answers.push(goOn)
    },
  })
  const chatty = await startFaultyServer()
  t.teardown(() => Promise.all([counting.close(), chatty.close()]))
  // In standard error and data, each line in a packet of its own.
  chatty.faults.command = (channel, asked) => {
    for (let line = 0; asked === 'chat' && line < 2_500; line += 1) {
      channel.stderr.write('x')
      channel.write(Buffer.alloc(100))
    }
    channel.exit(0)
    channel.end()
    return true
  }
  const address = parseRepositoryAddress(`${chatty.url}/acme/chatty.git`)
  const target = { ...targetOf('chatty'), address, login: keyLogin(KEY, chatty.knownHosts) }
  const program = await (await counting.open(target, patience())).exec('chat', undefined)
  let received = 0
  const all = buffer(program.stream.on('data', ({ length }: Buffer) => (received += length)))
  await until('the first piece', async () => answers.length > 0)
  // In the same thread: by then it has read whatever it would.
  await echoOnce(counting, target)
  t.ok(received < 150_000, `${received} bytes came before they might`)
  await until('the end', async () => {
    answers.splice(0).forEach((goOn) => goOn())
    return program.end().exitStatus !== undefined
  })
  t.equal((await all).length, 250_000)
  t.equal(program.end().words, 'x'.repeat(2_500))
  t.equal(seen.namespace, 'shop')
  t.ok(seen.cost > 4_850 * 4_096, `${seen.cost / 4_096} packets`)
})

drawn(
  'two programs of a session run at once, and one that nobody reads does not stop the other',
  async (t) => {
    const session = await sessions.open(targetOf('two'), patience())
    const [stuck, other] = [await session.exec('echo', undefined), await session.exec('echo', undefined)]
    stuck.stream.write(randomBytes(8_000_000))
    other.stream.end('hello')
    t.equal((await buffer(other.stream)).toString(), 'hello')
    t.ok(stuck.stream.readableLength < 1_000_000)
    session.close()
    await once(stuck.stream, 'close')
  },
)

drawn(
  'a session that was closed in good order is used again for the same repository and login',
  async (t) => {
    const other = makeKey('-t', 'ed25519')
    const target = targetOf('kept')
    t.equal(await loginsOf(() => echoOnce(sessions, target)), 1)
    t.equal(await loginsOf(() => echoOnce(sessions, target)), 0)
    for (const changed of [
      targetOf('other'),
      targetOf('kept', { login: keyLogin(KEY, server.knownHosts, 'another-namespace') }),
      targetOf('kept', { login: keyLogin(other, server.knownHosts) }),
      targetOf('kept', { login: keyLogin(KEY, `${server.knownHosts}# another text`) }),
    ]) {
      t.equal(await loginsOf(() => echoOnce(sessions, changed)), 1)
    }
  },
)

drawn('a session is not used again at an address that is not one of the checked ones', async (t) => {
  const target = targetOf('moved')
  await echoOnce(sessions, target)
  const moved = { ...target, addresses: ['127.0.0.2'] }
  t.match(await outcomeOf(sessions.open(moved, patience())), { reason: 'NetworkError' })
})

drawn('a session is not kept for long, although its thread is used', async (t) => {
  const own = openSSHSessions({ keepMs: 5 })
  t.teardown(() => own.close())
  await own.open(targetOf('held'), patience())
  const target = targetOf('short')
  await echoOnce(own, target)
  await until('a new login', async () => (await loginsOf(() => echoOnce(own, target))) === 1)
})

drawn('two users of a repository at once have a session each', async (t) => {
  const target = targetOf('busy')
  const work = async () => {
    const first = await sessions.open(target, patience())
    const second = await sessions.open(target, patience())
    first.close()
    second.close()
  }
  t.equal(await loginsOf(work), 2)
})

drawn('a session whose attempt was aborted ends with its programs, and is not used again', async (t) => {
  const abort = new AbortController()
  const target = targetOf('aborted')
  const session = await sessions.open(target, abort.signal)
  const { stream } = await session.exec('echo', undefined)
  abort.abort()
  await once(stream, 'close')
  t.notOk(session.isOpen())
  t.equal(await loginsOf(() => echoOnce(sessions, target)), 1)
})

drawn('an attempt that is over before the connection is there is a Timeout', async (t) => {
  const silent = createServer().listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.teardown(() => silent.close())
  const { port } = silent.address() as AddressInfo
  const address = parseRepositoryAddress(`ssh://git@127.0.0.1:${port}/a/b.git`)
  const abort = new AbortController()
  const work = outcomeOf(sessions.open(targetOf('silent', { address }), abort.signal))
  const [socket] = await once(silent, 'connection')
  abort.abort()
  t.match(await work, { reason: 'Timeout' })
  await until('the connection to end', async () => socket.resume().closed)
  t.match(await outcomeOf(sessions.open(targetOf('late'), abort.signal)), { reason: 'Timeout' })
})

drawn('an idle thread ends, and its memory with it', async (t) => {
  const threads: ReturnType<typeof startWorkerThread>[] = []
  const places = makeThreadPlaces({ ...PLACE_BOUNDS, idleMs: 20 }, () => {
    threads.push(startWorkerThread())
    return threads.at(-1)!
  })
  const own = openSSHSessions({ places })
  const target = targetOf('idle')
  t.equal(await loginsOf(() => echoOnce(own, target)), 1)
  await threads[0]!.ended
  t.equal(await loginsOf(() => echoOnce(own, target)), 1)
  await own.close()
})

t.test(
  'threads for SSH yield to the thread that answers',
  { skip: process.platform !== 'linux' && 'only Linux has a priority for each thread' },
  async (t) => {
    const thread = startWorkerThread()
    t.teardown(() => thread.end())
    await until('a thread that yields', async () =>
      (await prioritiesOfThreads()).some((nice) => nice > getPriority()),
    )
  },
)

/** Of proc_pid_stat(5), `nice` of each thread of this process. */
async function prioritiesOfThreads(): Promise<readonly number[]> {
  const tasks = await readdir('/proc/self/task')
  // One may have ended meanwhile.
  const stats = await Promise.all(
    tasks.map((id) => readFile(`/proc/self/task/${id}/stat`, 'utf8').catch(() => '')),
  )
  return stats.map((stat) => Number(stat.slice(stat.lastIndexOf(')')).split(' ')[17]))
}

t.test('a session that is given up while the one before it ends leaves nothing behind', async (t) => {
  const threads: ReturnType<typeof startWorkerThread>[] = []
  const places = makeThreadPlaces({ ...PLACE_BOUNDS, idleMs: 20 }, () => {
    threads.push(startWorkerThread())
    return threads.at(-1)!
  })
  const own = openSSHSessions({ places, keepMs: 20 })
  t.teardown(() => own.close())
  const target = targetOf('given-up')
  const first = await own.open(target, patience())
  const { stream } = await first.exec('echo', undefined)
  first.close()
  const abort = new AbortController()
  const second = outcomeOf(own.open(target, abort.signal))
  await nextTurn()
  abort.abort()
  // Only now its program ends, so that the first session can be kept and taken.
  stream.resume().end()
  t.match(await second, { reason: 'Timeout' })
  await Promise.race([threads[0]!.ended, once(AbortSignal.timeout(10_000), 'abort')])
  t.ok(threads[0]!.isEnding(), 'its thread is free for others')
})

t.test(
  'who waits for a thread that another namespace uses for long gets it, and that one is told',
  async (t) => {
    const own = openSSHSessions({
      places: makeThreadPlaces({ ...PLACE_BOUNDS, total: 1, turnMs: 50, longestMs: 50 }),
    })
    t.teardown(() => own.close())
    const held = await own.open(targetOf('held'), patience())
    const program = await held.exec('echo', undefined)
    const target = targetOf('waits', { login: keyLogin(KEY, server.knownHosts, 'another-namespace') })
    t.equal(await echoOnce(own, target), 'hello')
    await program.closed
    t.match(held.lost(), { reason: 'Timeout', message: 'other namespaces waited' })
    held.close()
  },
)

for (const [what, limits, reason] of [
  ['stands still for too long', { ...THREAD_LIMITS, stallMs: 50 }, 'Timeout'],
  ['needs too much memory', { ...THREAD_LIMITS, heapMiB: 24 }, 'NetworkError'],
] as const) {
  drawn(`a thread that ${what} is ended, and what ran there is ${reason}`, async (t) => {
    const own = openSSHSessions({ places: makeThreadPlaces(PLACE_BOUNDS, () => startWorkerThread(limits)) })
    t.teardown(() => own.close())
    // Its lines take more than that, also of the thread of a bundle.
    const login = keyLogin(KEY, 'a b c\n'.repeat(600_000) + server.knownHosts)
    const failure = await outcomeOf(
      own.open(targetOf('ended', { login }), patience()).then(async (session) => {
        const program = await session.exec('echo', undefined)
        await program.closed
        return session.lost()
      }),
    )
    t.match(failure, { reason, message: targetOf('ended').address.text })
    t.equal(await echoOnce(sessions, targetOf('other')), 'hello', 'others go on')
  })
}

drawn('no environment reaches the thread', async (t) => {
  // Its program would not start with it.
  process.env['NODE_OPTIONS'] = '--require=/nonexistent'
  t.teardown(() => delete process.env['NODE_OPTIONS'])
  const own = openSSHSessions()
  t.teardown(() => own.close())
  t.equal(await echoOnce(own, targetOf('environment')), 'hello')
})

function hashOf(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
