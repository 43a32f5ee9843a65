import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { guardAddresses } from '../../../functions/net/addresses.ts'
import { readProxies } from '../../../functions/domain/network/proxies.ts'
import type { GitSettings } from '../../../functions/git/git.ts'
import { findRoute } from '../../../functions/domain/network/route.ts'
import { followTrust } from '../../../functions/net/trust.ts'
import { startProxy, type ProxyOptions } from '../../harness/connect-proxy.ts'
import { engineTest } from './engine-test.ts'
import { addressOf, changeOf, DIRECT, ENGINES, openStage, outcomeOf, patience } from '../stage.ts'

const NAMES = ['localhost', '127.0.0.1', 'git.example.com']
const stage = await openStage({ certificate: { names: NAMES } })
t.teardown(() => stage.close())
const { server } = stage

let count = 0

/** A repository on the stage's server, and its address by another name of that. */
async function repositoryAt(host: string): Promise<string> {
  const repository = await server.createRepository(`reach/${++count}`)
  return repository.url.replace('localhost', host)
}

// How both engines reach a server.
for (const engine of ENGINES) {
  const test = engineTest(t, engine)
  const push = (url: string, settings: Partial<GitSettings>, by = stage) =>
    outcomeOf(by.push(engine, changeOf(url, 'a.md'), settings))

  test('the connection goes to the addresses of the first lookup, not to those of a later one', async (t) => {
    const url = await repositoryAt('git.example.com')
    const answers = ['127.0.0.1', '169.254.169.254']
    const resolve = guardAddresses({ inCluster: false, apiServer: [] }, () =>
      Promise.resolve([answers.shift() ?? '']),
    )
    t.match(await push(url, { resolve }), { outcome: 'pushed' })
    t.same(answers, ['169.254.169.254'], 'one look-up for all of fetch and push')
    t.match(await push(url, { resolve }), { reason: 'AddressForbidden' }, 'the next session looks again')
  })

  test('a name that resolves to a forbidden address is never called', async (t) => {
    for (const address of ['169.254.169.254', '::ffff:169.254.169.254', '0.0.0.0']) {
      const lookup = () => Promise.resolve(['127.0.0.1', address])
      const resolve = guardAddresses({ inCluster: false, apiServer: [] }, lookup)
      const url = await repositoryAt('git.example.com')
      const before = server.requests.length
      t.match(await push(url, { resolve }), {
        reason: 'AddressForbidden',
        message: /^git\.example\.com is at an address/,
      })
      t.equal(server.requests.length, before)
    }
  })

  test('an IP address needs no lookup and is checked as well', async (t) => {
    t.match(await push(await repositoryAt('127.0.0.1'), {}), { outcome: 'pushed' })
    const resolve = guardAddresses({ inCluster: true, apiServer: [] })
    t.match(await push(await repositoryAt('127.0.0.1'), { resolve }), { reason: 'AddressForbidden' })
    t.match(await push('https://[fe80::1]/a/b.git', {}), { reason: 'AddressForbidden' })
  })

  test('a proxy is used for everything, gets names, and sees no credentials', async (t) => {
    const { proxy, settings } = await proxied(t)
    t.match(await push(await repositoryAt('git.example.com'), settings), { outcome: 'pushed' })
    t.ok(proxy.connects.length > 0)
    t.same([...new Set(proxy.connects)], [`git.example.com:${server.port}`])
    t.notMatch(proxy.heads.join('\n'), /authorization/i)
  })

  test('a proxy with user name and password, and one behind TLS', async (t) => {
    const certificate = await server.authority.issue({ names: ['localhost'] })
    for (const more of [{}, { scheme: 'https', certificate }]) {
      const { proxy, settings } = await proxied(t, { login: 'me:p@ss/w:rd', ...more })
      t.match(await push(await repositoryAt('git.example.com'), settings), { outcome: 'pushed' })
      t.ok(proxy.connects.length > 0)
    }
  })

  for (const [title, options, wanted] of [
    [
      'refuses the login',
      { login: 'me:s3cret' },
      { reason: 'NetworkError', message: /does not accept the user name and password .*407/ },
    ],
    [
      'refuses the host',
      { status: 403 },
      { reason: 'AddressForbidden', message: /does not let Commitlet connect/ },
    ],
    [
      'cannot reach the host',
      { status: 502 },
      { reason: 'NetworkError', message: /cannot connect to that host and port/ },
    ],
  ] as const) {
    test(`a proxy that ${title} is named, without its secrets`, async (t) => {
      const { proxy, settings } = await proxied(t, options)
      const proxies =
        title === 'refuses the login'
          ? readProxies({ HTTPS_PROXY: `http://me:wr0ng@localhost:${proxy.port}` })
          : settings.proxies
      const failure = await push(await repositoryAt('git.example.com'), { ...settings, proxies })
      t.match(failure, wanted)
      t.notMatch(String((failure as Error).cause) + String(failure), /wr0ng|s3cret/)
    })
  }

  test('an unreachable proxy is distinguished from an unreachable host', async (t) => {
    const { proxy, settings } = await proxied(t)
    await proxy.close()
    const url = await repositoryAt('git.example.com')
    t.match(await push(url, settings), {
      reason: 'NetworkError',
      message: /nothing accepts the connection at the proxy/,
    })
    const proxies = readProxies({ HTTPS_PROXY: 'http://proxy.invalid:3128' })
    t.match(await push(url, { ...settings, proxies }), {
      reason: 'NetworkError',
      message: /proxy of HTTPS_PROXY is not known/,
    })
  })

  test('a host of NO_PROXY is called directly, and checked', async (t) => {
    const proxies = readProxies({ HTTPS_PROXY: 'http://proxy.invalid:3128', NO_PROXY: 'localhost' })
    t.match(await push(await repositoryAt('localhost'), { proxies }), { outcome: 'pushed' })
    const routeSettings = { ...DIRECT, proxies }
    const address = addressOf('https://169.254.169.254/a.git')
    t.match(await findRoute(address, routeSettings, patience()), {
      addresses: undefined,
      proxy: { host: 'proxy.invalid' },
    })
    const named = { ...routeSettings, proxies: { ...proxies, exceptions: ['169.254.0.0/16'] } }
    t.match(await outcomeOf(findRoute(address, named, patience())), { reason: 'AddressForbidden' })
  })

  test('only a host of INSECURE_HOSTS may use an untrusted certificate or plain http', async (t) => {
    const plain = await openStage({ plain: true })
    t.teardown(() => plain.close())
    const { url: open } = await plain.server.createRepository('plain/a')
    const insecureHosts = [{ host: 'localhost', port: plain.server.port }]
    const write = (settings: Partial<GitSettings>) => push(open, settings, plain)
    t.match(await write({ insecureHosts }), { outcome: 'pushed' })
    const caFile = join(t.testdir({}), 'other.pem')
    await writeFile(caFile, plain.server.authority.certPEM)
    const trust = followTrust(caFile)
    const url = await repositoryAt('localhost')
    t.match(await push(url, { trust }), { reason: 'TLSUntrusted' })
    t.match(await push(url, { trust, insecureHosts: [{ host: 'localhost', port: server.port }] }), {
      outcome: 'pushed',
    })
  })
}

async function proxied(t: Test, options: ProxyOptions & { readonly scheme?: string } = {}) {
  const { scheme = 'http', login, ...rest } = options
  const proxy = await startProxy({ ...rest, ...(login === undefined ? {} : { login }) })
  t.teardown(() => proxy.close())
  const [user, ...password] = (login ?? '').split(':')
  const shown = login === undefined ? '' : `${user}:${encodeURIComponent(password.join(':'))}@`
  const proxies = readProxies({ HTTPS_PROXY: `${scheme}://${shown}localhost:${proxy.port}` })
  // A lookup would fail.
  return { proxy, settings: { proxies, resolve: () => Promise.reject(new Error('looked up')) } }
}
