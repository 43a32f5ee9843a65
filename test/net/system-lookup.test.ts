import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { lookUpAddresses, lookUpBy, systemLookup } from '../../functions/net/system-lookup.ts'
import { established } from '../../functions/net/socket.ts'
import { serveRaw } from '../http/stage.ts'

const SERVICE = ['10.96.0.7']
const PUBLIC = ['192.0.2.7']
const HOSTS = '127.0.0.1 localhost\n192.0.2.9\tMirror.example.com git # git.example.com\n'
const folder = t.testdir({ hosts: HOSTS })

type FromDNS = readonly string[] | 'ENOTFOUND' | 'EAI_AGAIN'

/**
 * What the C library of a pod answers: without an answer of DNS it goes on to the Services of the cluster. `one`: what DNS
 * answers when it is asked for one family, where that differs.
 */
function libraryWhere(both: FromDNS, one: Readonly<Record<number, FromDNS>> = {}) {
  const asked: string[] = []
  const lookUp = lookUpBy({
    hostsFile: join(folder, 'hosts'),
    askLibrary(name, family) {
      const dns = one[family] ?? both
      asked.push(name)
      if (typeof dns !== 'string') return Promise.resolve(dns)
      if (!name.endsWith('.')) return Promise.resolve(SERVICE)
      return Promise.reject(Object.assign(new Error(`getaddrinfo ${dns}`), { code: dns }))
    },
  })
  return { lookUp, asked }
}

t.test('a name that DNS does not answer is no Service of the cluster', async (t) => {
  await t.rejects(libraryWhere('EAI_AGAIN').lookUp('git.example.com'), { code: 'EAI_AGAIN' })
  // The library says that there is no such name where one family fails and the other one has no address.
  for (const family of [4, 6]) {
    const { lookUp } = libraryWhere('ENOTFOUND', { [family]: 'EAI_AGAIN' })
    await t.rejects(lookUp('git.example.com'), { code: 'EAI_AGAIN' })
  }
})

t.test('a name that is in DNS is asked for once, as it is', async (t) => {
  const { lookUp, asked } = libraryWhere(PUBLIC)
  t.same(await lookUp('git.example.com'), PUBLIC)
  t.same(asked, ['git.example.com.'])
})

t.test('a name that is not in DNS may be a Service of the cluster', async (t) => {
  t.same(await libraryWhere('ENOTFOUND').lookUp('gitea.git'), SERVICE)
})

t.test('names of Services and of the hosts file need no answer of DNS', async (t) => {
  for (const host of ['gitea', 'gitea.git.svc', 'mirror.example.com']) {
    const { lookUp, asked } = libraryWhere('EAI_AGAIN')
    t.same(await lookUp(host), SERVICE, host)
    t.same(asked, [host])
  }
})

t.test('without a hosts file DNS alone answers', async (t) => {
  const lookUp = lookUpBy({ hostsFile: join(folder, 'none'), askLibrary: () => Promise.resolve(PUBLIC) })
  t.same(await lookUp('mirror.example.com'), PUBLIC)
})

t.test('an unknown name is not known to the system either', async (t) => {
  await t.rejects(systemLookup('nowhere.invalid'), { message: /ENOTFOUND|EAI_AGAIN/ })
})

t.test('connections are made to what is found, or fail as the look-up does', async (t) => {
  const { port } = await serveRaw(t, (socket) => socket.end())
  const signal = new AbortController().signal
  const options = { port, lookup: lookUpAddresses, autoSelectFamily: true }
  const socket = connect({ ...options, host: 'localhost' })
  t.equal((await established(socket, 'connect', signal)).remoteAddress, '127.0.0.1')
  socket.destroy()
  const unknown = established(connect({ ...options, host: 'nowhere.invalid' }), 'connect', signal)
  await t.rejects(unknown, { code: /ENOTFOUND|EAI_AGAIN/ })
})
