import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { openEngines } from '../../../functions/git/engines.ts'
import type { RemoteTarget } from '../../../functions/git/remote.ts'
import { openSSHSessions, type GuardLogIn, type SessionTarget } from '../../../functions/git/ssh/sessions.ts'
import { openReconnectingSSH } from '../../../functions/git/ssh/reconnect.ts'
import type { SSHSession } from '../../../functions/git/ssh/session.ts'
import { followTrust } from '../../../functions/net/trust.ts'
import { startSSHServer } from '../../harness/ssh-server.ts'
import { ENGINES, patience, until } from '../stage.ts'
import { keyLogin, sshChange } from './stage.ts'

const server = await startSSHServer()
t.teardown(() => server.close())

/** A log-in that takes as long as the test says, and what becomes of the turn meanwhile. */
function slowLogIn(url: string) {
  const opened = Promise.withResolvers<SSHSession>()
  const again = Promise.withResolvers<undefined>()
  const seen: string[] = []
  const closing = new AbortController()
  const turn = {
    end: () => void seen.push('end'),
    async again(signal: AbortSignal) {
      seen.push('again')
      signal.addEventListener('abort', () => again.reject(signal.reason))
      await again.promise
    },
  }
  const { repository: address } = sshChange(url, 'a.md')
  const target = {
    address,
    addresses: ['127.0.0.1'],
    login: keyLogin(server.writer, server.knownHosts),
    turn,
  }
  let logsIn = (): void => undefined
  const sessions = {
    open(target: SessionTarget) {
      logsIn = target.logsIn ?? logsIn
      return opened.promise
    },
    close: () => Promise.resolve(),
  }
  const ssh = openReconnectingSSH(sessions, target, closing.signal)
  const session = {
    isOpen: () => true,
    isUsed: () => false,
    exec: () => Promise.reject(new Error('It has begun.')),
    close: () => void seen.push('closed'),
  } as unknown as SSHSession
  const command = ssh.exec('echo', undefined).catch((error: unknown) => error)
  return { logsIn, opened, again, seen, closing, session, command }
}

t.test(
  'a session that does not log in for a moment gives its turn to others, and waits for another one',
  async (t) => {
    const { opened, again, seen, session, command } = slowLogIn(`${server.url}/acme/shop.git`)
    await until('the end of the turn', async () => seen.includes('end'))
    t.same(seen, ['end'])
    opened.resolve(session)
    await until('the other turn', async () => seen.includes('again'))
    const ended = { yet: false }
    void command.then(() => (ended.yet = true))
    await new Promise(setImmediate)
    t.notOk(ended.yet)
    again.resolve(undefined)
    t.match(await command, { message: 'It has begun.' })
  },
)

t.test('one that nobody wants any more while it waits for another turn is closed', async (t) => {
  const { opened, seen, closing, session, command } = slowLogIn(`${server.url}/acme/shop.git`)
  await until('the end of the turn', async () => seen.includes('end'))
  opened.resolve(session)
  await until('the other turn', async () => seen.includes('again'))
  closing.abort(new Error('It is over.'))
  t.match(await command, { message: 'It is over.' })
  t.same(seen, ['end', 'again', 'closed'])
})

t.test('a session that logs in keeps its turn, however long that takes', async (t) => {
  const { logsIn, opened, seen, session, command } = slowLogIn(`${server.url}/acme/shop.git`)
  const other = slowLogIn(`${server.url}/acme/shop.git`)
  logsIn()
  await until('the end of the turn of another one', async () => other.seen.includes('end'))
  opened.resolve(session)
  t.match(await command, { message: 'It has begun.' })
  t.same(seen, [])
  other.opened.resolve(session)
  other.again.resolve(undefined)
  await other.command
})

t.test('a session that is opened at once keeps its turn', async (t) => {
  const { opened, seen, session, command } = slowLogIn(`${server.url}/acme/shop.git`)
  opened.resolve(session)
  t.match(await command, { message: 'It has begun.' })
  t.same(seen, [])
})

for (const engine of ENGINES)
  t.test(`${engine}: a session whose log-in waits gives the turn of the branch to others`, async (t) => {
    const waits = Promise.withResolvers<undefined>()
    const guardLogIn: GuardLogIn = async ({ addresses: [address = ''], signal }, open) => {
      await waits.promise
      const opened = await open(address, { signal, reached: () => undefined, begins: () => true })
      if (opened === undefined) throw new Error('It was not tried')
      return opened
    }
    const sessions = openSSHSessions({ guardLogIn })
    const tempDir = await mkdtemp(join(tmpdir(), 'commitlet-turn-'))
    const settings = {
      tempDir,
      trust: followTrust(undefined),
      fetchLimitMiB: 64,
      path: process.env['PATH'] ?? '',
    }
    const engines = openEngines({ ...settings, engine: engine === 'direct' ? 'direct' : 'binary' }, sessions)
    t.teardown(async () => {
      await Promise.all([engines.close(), sessions.close()])
      await rm(tempDir, { recursive: true, force: true })
    })
    const { url } = await server.createRepository(`turns-${engine.replace(' ', '-')}/shop`)
    const { repository: address } = sshChange(url, 'a.md')
    const seen: string[] = []
    const turn = {
      end: () => void seen.push('end'),
      again: () => Promise.resolve(void seen.push('again')),
    }
    const login = keyLogin(server.writer, server.knownHosts)
    const route = { addresses: ['127.0.0.1'] } as unknown as RemoteTarget['route']
    const signal = patience()
    const remote = await engines.open({ address, route, login, signal, namespace: 'shop', turn })
    const tip = remote.readTip({ branch: 'main' })
    await until('the end of the turn', async () => seen.includes('end'))
    waits.resolve(undefined)
    t.match(await tip, { branch: 'main' })
    t.same(seen, ['end', 'again'])
    await remote.close()
  })
