import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { openSSHSessions, type SSHSessions } from '../../../functions/git/ssh/sessions.ts'
import { makeThreadPlaces, PLACE_BOUNDS } from '../../../functions/git/ssh/threads/thread-places.ts'
import { guardSSHLogIns } from '../../../functions/login/throttle/ssh-log-ins.ts'
import { makeKey } from '../../harness/ssh-keys.ts'
import { startFaultyServer } from '../../harness/ssh-faulty.ts'
import { withSSHServer, type SSHServer } from '../../harness/ssh-server.ts'
import { keyLogin } from '../../git/ssh/stage.ts'
import { outcomeOf, patience } from '../../git/stage.ts'

const MOST_FAILED = 2

await withSSHServer(t, (t, server) => {
  t.test('log-ins over SSH are bounded at the address, whatever host key is listed for it', async (t) => {
    const sessions = open()
    t.teardown(() => sessions.close())
    const refused = () => server.log().then((log) => log.split('Connection reset by authenticating').length)
    const before = await refused()
    const outcomes: unknown[] = []
    for (const hostKey of [...server.hostKeys, ...server.hostKeys])
      outcomes.push(await outcomeOf(logIn(sessions, server, hostKey)))
    t.match(outcomes.slice(0, MOST_FAILED), [
      { reason: 'AuthenticationFailed', message: /./ },
      { reason: 'AuthenticationFailed', message: /./ },
    ])
    for (const outcome of outcomes.slice(MOST_FAILED))
      t.match(outcome, { reason: 'AuthenticationFailed', message: /was not tried/ })
    t.ok((await refused()) - before <= MOST_FAILED)
    t.match(
      await outcomeOf(logIn(sessions, server, server.hostKeys[0] ?? '', 'another')),
      { message: /^(?!.*was not tried)/ },
      'another namespace has its own bound',
    )
  })

  t.test('ten namespaces together make no more log-ins fail than the server lets pass', async (t) => {
    const sessions = open(0)
    t.teardown(() => sessions.close())
    const [hostKey = ''] = server.hostKeys
    const outcomes = await Promise.all(
      Array.from({ length: 10 }, (_, i) => outcomeOf(logIn(sessions, server, hostKey, `team-${i}`))),
    )
    const heldBack = outcomes.filter((one) => String(one).includes('was not tried yet'))
    t.equal(heldBack.length, 8)
    t.match(heldBack, Array(8).fill({ reason: 'AuthenticationFailed', retry: 'transient' }))
  })

  t.test('log-ins that wait for a thread keep nobody else from a server', async (t) => {
    const places = makeThreadPlaces({ ...PLACE_BOUNDS, perNamespace: 1 })
    const sessions = openSSHSessions({ places, guardLogIn: guardSSHLogIns(MOST_FAILED, () => 0) })
    t.teardown(() => sessions.close())
    const other = await startFaultyServer()
    t.teardown(() => other.close())
    const over = new AbortController()
    const open = (namespace: string, url: string, known: string) => {
      const address = parseRepositoryAddress(`${url}/acme/shop.git`)
      const login = keyLogin(server.writer, known, namespace)
      const target = { address, addresses: ['127.0.0.1'], login }
      return sessions.open(target, AbortSignal.any([patience(), over.signal]))
    }
    const known = server.hostKeys.map((key) => `[127.0.0.1]:${server.port} ${key}\n`).join('')
    const waiting: Promise<unknown>[] = []
    for (const namespace of ['one', 'two', 'three']) {
      const kept = await open(namespace, other.url, other.knownHosts)
      t.ok(kept.isOpen(), 'it keeps the only thread of its namespace')
      waiting.push(outcomeOf(open(namespace, server.url, known)))
    }
    t.ok((await open('four', server.url, known)).isOpen())
    over.abort(new Failure('Timeout', 'The test is over.'))
    t.match(await Promise.all(waiting), Array(3).fill({ reason: 'Timeout' }))
  })

  t.test('a login that has worked at one address is not known at another', async (t) => {
    const sessions = open()
    t.teardown(() => sessions.close())
    const good = await openSession(sessions, server, server.writer, ['127.0.0.1'])
    good.close()
    for (let i = 0; i < 3; i += 1)
      t.match(await outcomeOf(logIn(sessions, server, server.hostKeys[0] ?? '')), {
        message: i < MOST_FAILED ? /^(?!.*was not tried)/ : /was not tried/,
      })
    t.ok(
      (await openSession(sessions, server, server.writer, ['127.0.0.1'])).isOpen(),
      'where it has worked, it works',
    )
    t.match(await outcomeOf(openSession(sessions, server, server.writer, ['127.0.0.1', '127.0.0.2'])), {
      message: /was not tried/,
    })
  })
})

/** Between log-ins a server forgets the penalty of one that has failed (server-penalties.ts). */
function open(betweenMs = 5_000): SSHSessions {
  let now = 0
  const guarded = guardSSHLogIns(MOST_FAILED, () => now)
  const guardLogIn: typeof guarded = (logIn, open) => guarded(logIn, open).finally(() => (now += betweenMs))
  return openSSHSessions({ keepMs: 0, guardLogIn })
}

/** Tries a key that the server does not know. */
function logIn(sessions: SSHSessions, server: SSHServer, hostKey: string, namespace = 'shop') {
  const address = parseRepositoryAddress(`${server.url}/acme/shop.git`)
  const known = `[127.0.0.1]:${server.port} ${hostKey}\n`
  const login = keyLogin(makeKey('-t', 'ed25519'), known, namespace)
  return sessions.open({ address, addresses: ['127.0.0.1'], login }, patience())
}

function openSession(
  sessions: SSHSessions,
  server: SSHServer,
  key: SSHServer['writer'],
  addresses: string[],
) {
  const address = parseRepositoryAddress(`${server.url}/acme/shop.git`)
  return sessions.open({ address, addresses, login: keyLogin(key, server.knownHosts) }, patience())
}
