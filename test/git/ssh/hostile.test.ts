import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { openSSHSessions, type SessionTarget } from '../../../functions/git/ssh/sessions.ts'
import { startWorkerThread } from '../../../functions/git/ssh/threads/worker-thread.ts'
import { startFaultyServer } from '../../harness/ssh-faulty.ts'
import { sample } from '../../harness/sample.ts'
import { startHostileServer, type Attack, type HostileServer } from '../../harness/ssh-hostile.ts'
import { makeKey } from '../../harness/ssh-keys.ts'
import { keyLogin, openSSHStage, sshChange } from './stage.ts'
import { outcomeOf, patience, until } from '../stage.ts'
import { drawnTests } from '../../harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

const stage = await openSSHStage()
t.teardown(() => stage.close())
const USER = makeKey('-t', 'ed25519')
/** Ten times what is promised: nothing that a remote sends holds the event loop for longer. */
const LONGEST_MS = 1_000

/** Takes a thread of its own some 100 ms to find out. */
const HOSTILE_MS = 1_500

/** Twice what the thread may need. */
const MEMORY_BYTES = 128 * 1024 * 1024

function targetAt({ url, knownHosts }: HostileServer, namespace = 'shop'): SessionTarget {
  const address = parseRepositoryAddress(`${url}/acme/shop.git`)
  return { address, addresses: ['127.0.0.1'], login: keyLogin(USER, knownHosts, namespace) }
}

const ATTACKS: readonly (readonly [Attack, string, string])[] = [
  ['greeting', 'NotSupported', 'before the login'],
  ['banners', 'NotSupported', 'before the login'],
  ['global requests', 'NotSupported', 'after the login'],
  ['ignored messages', 'NotSupported', 'after the login'],
  ['unknown messages', 'NotSupported', 'after the login'],
  ['window adjustments', 'NotSupported', 'in a channel'],
  ['empty packets', 'NotSupported', 'of no bytes'],
  // Also beside an honest server, below.
  ['key exchanges', 'NotSupported', 'after the login'],
  ['success before the login', 'NetworkError', 'out of turn'],
  ['channel data before the login', 'NetworkError', 'out of turn'],
  ['signatures', 'NetworkError', 'out of turn'],
  ['login after the login', 'NetworkError', 'out of turn'],
  ['words after the end', 'NetworkError', 'out of turn'],
]
/** One of them; traffic-guard.test.ts has the limits of each. */
for (const [attack, reason] of sample(ATTACKS, () => 'an attack')) {
  t.test(`${attack} without an end: ${reason}`, async (t) => {
    const server = await startHostileServer(attack)
    t.teardown(server.close)
    const change = sshChange(`${server.url}/acme/shop.git`, 'a.md')
    const delay = monitorEventLoopDelay({ resolution: 10 })
    delay.enable()
    const landed = await stage.push(change, keyLogin(USER, server.knownHosts), patience())
    t.match(landed, { reason })
    t.ok(delay.max / 1e6 < LONGEST_MS, `the event loop was held for ${(delay.max / 1e6).toFixed(0)} ms`)
  })
}

// On a busy machine the packets may stall the thread before their number breaks the limit.
const CHANNEL_ATTACKS: readonly (readonly [Attack, RegExp])[] = [
  ['tiny packets', /^(NotSupported|Timeout)$/],
  ['data beyond the window', /^NetworkError$/],
]
for (const [attack, reason] of sample(CHANNEL_ATTACKS, () => 'in a channel')) {
  drawn(`${attack} to a program whose output nobody reads: ${reason.source}`, async (t) => {
    const server = await startHostileServer(attack)
    const sessions = openSSHSessions()
    t.teardown(() => Promise.all([server.close(), sessions.close()]))
    const before = process.memoryUsage().rss
    const session = await sessions.open(targetAt(server), patience())
    const program = await session.exec('git-upload-pack', undefined)
    await program.closed
    t.match(session.lost(), { reason })
    t.ok(program.stream.destroyed || (await once(program.stream, 'close')))
    t.ok(process.memoryUsage().rss - before < MEMORY_BYTES)
  })
}

const SILENT = ['silent after the identification', 'silent in the key exchange'] as const
for (const attack of sample(SILENT, () => 'silent')) {
  drawn(`a server that is ${attack}: Timeout`, async (t) => {
    const server = await startHostileServer(attack)
    const sessions = openSSHSessions()
    t.teardown(() => Promise.all([server.close(), sessions.close()]))
    const target = { ...targetAt(server), readyMs: 300 }
    t.match(await outcomeOf(sessions.open(target, patience())), { reason: 'Timeout' })
  })
}

t.test('a server that calls itself OpenSSH is asked for no proof of its other host keys', async (t) => {
  const server = await startHostileServer('host keys')
  const sessions = openSSHSessions()
  t.teardown(() => Promise.all([server.close(), sessions.close()]))
  const session = await sessions.open(targetAt(server), patience())
  await session.exec('git-upload-pack', undefined)
  t.equal(server.proofs(), 0)
})

drawn('beside two hostile servers of one namespace, another namespace lands its commit', async (t) => {
  const honest = await startFaultyServer()
  const hostile = [await startHostileServer('global requests'), await startHostileServer('key exchanges')]
  t.teardown(() => Promise.all([honest, ...hostile].map((server) => server.close())))
  const repository = await honest.createRepository('acme/shop')
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  const attacks = hostile.map((server) => {
    const change = sshChange(`${server.url}/acme/shop.git`, 'a.md')
    return stage.push(change, keyLogin(USER, server.knownHosts, 'evil'))
  })
  await until('both attacks', async () => hostile.every((server) => server.connections() > 0))
  const landed = await stage.push(sshChange(repository.url, 'a.md'), keyLogin(USER, honest.knownHosts))
  t.match(landed, { outcome: 'pushed', sha: await repository.git('rev-parse', 'main') })
  t.match(await Promise.all(attacks), [{ reason: 'NotSupported' }, { reason: 'NotSupported' }])
  t.ok(delay.max / 1e6 < LONGEST_MS, `the event loop was held for ${(delay.max / 1e6).toFixed(0)} ms`)
})

t.test('what a server did in a session that was closed meanwhile ends no thread', async (t) => {
  const server = await startHostileServer('key exchanges')
  const thread = startWorkerThread()
  t.teardown(async () => {
    thread.end()
    await Promise.all([thread.ended, server.close()])
  })
  const heard: string[] = []
  const id = thread.listen(({ kind }) => void heard.push(kind))
  const target = targetAt(server)
  thread.post({ kind: 'open', id, target })
  // Meanwhile the thread is told of nothing: it has said that the server is hostile before anybody hears it.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, HOSTILE_MS)
  thread.forget(id)
  thread.post({ kind: 'close', id })
  const refused = thread.listen(({ kind }) => void heard.push(kind))
  thread.post({ kind: 'open', id: refused, target: { ...target, addresses: ['127.0.0.9'] } })
  await until('the answer to the next one', async () => heard.length > 0)
  t.strictSame(heard, ['failed'])
  t.notOk(thread.isEnding())
})

t.test('a hostile server at one address of a name ends no log-in at another one', async (t) => {
  const honest = await startFaultyServer()
  const address = parseRepositoryAddress(`${honest.url}/acme/shop.git`)
  const hostile = await startHostileServer('key exchanges', { ip: '127.0.0.2', port: address.port })
  const sessions = openSSHSessions()
  t.teardown(() => Promise.all([honest.close(), hostile.close(), sessions.close()]))
  const known = [honest.knownHosts, hostile.knownHosts.replace('127.0.0.2', '127.0.0.1')]
  const target = { address, login: keyLogin(USER, known.join('\n')) }
  const answer = Promise.withResolvers<undefined>()
  honest.faults.login = answer.promise
  const logIn = sessions.open({ ...target, addresses: ['127.0.0.1'] }, patience())
  await until('a log-in', async () => honest.logins.length > 0)
  const attack = sessions.open({ ...target, addresses: ['127.0.0.2'] }, patience())
  t.match(await outcomeOf(attack), { reason: 'NotSupported' })
  answer.resolve(undefined)
  t.ok((await logIn).isOpen())
})
