import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { readProxies } from '../../../functions/domain/network/proxies.ts'
import {
  loginLine,
  offlineEnvironment,
  onlineEnvironment,
  proxyLine,
  tunnelEnvironment,
} from '../../../functions/git/process/environment.ts'
import { addressOf, loginOf } from '../stage.ts'

const place = {
  folder: '/w',
  path: '/bin',
  bounds: { deadlineSeconds: 120, memoryMiB: 2, cpuSeconds: 5, fileMiB: 3 },
}
const remote = {
  address: addressOf('https://git.example.com/acme/shop.git'),
  login: loginOf('pä:ss', 'dev'),
  authorities: '/ca.pem',
  addresses: ['192.0.2.7', '2001:db8::7'],
  proxy: undefined,
  insecure: false,
}

function configOf(environment: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const count = Number(environment['GIT_CONFIG_COUNT'])
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      environment[`GIT_CONFIG_KEY_${i}`],
      environment[`GIT_CONFIG_VALUE_${i}`],
    ]),
  )
}

t.test('no variable of this process is passed on', async (t) => {
  process.env['GIT_SSL_NO_VERIFY'] = '1'
  t.teardown(() => delete process.env['GIT_SSL_NO_VERIFY'])
  const own = new Set(['PATH', 'LC_ALL', 'HOME'])
  for (const environment of [offlineEnvironment(place), onlineEnvironment(place, remote)]) {
    t.match(environment, { PATH: '/bin', LC_ALL: 'C', HOME: '/nonexistent' })
    t.notOk('GIT_SSL_NO_VERIFY' in environment)
    const strange = Object.keys(environment).filter(
      (name) => !own.has(name) && !/^(GIT|COMMITLET)_/.test(name),
    )
    t.same(strange, [])
  }
})

t.test('without the network there is no login and no protocol', async (t) => {
  const environment = offlineEnvironment(place)
  t.match(environment, { GIT_ALLOW_PROTOCOL: 'none', GIT_NO_LAZY_FETCH: '1' })
  t.notMatch(JSON.stringify(environment), 'Basic')
})

t.test('the login is a header for the one repository', async (t) => {
  const config = configOf(onlineEnvironment(place, remote))
  t.ok('http.https://git.example.com/acme/shop.git.extraHeader' in config)
  for (const name of ['GIT_CONFIG_VALUE_0', 'GIT_CONFIG_VALUE_1'])
    t.notOk(name in onlineEnvironment(place, remote), 'the launcher puts it in')
  const pair = Buffer.from('dev:pä:ss').toString('base64')
  t.equal(loginLine(loginOf('pä:ss', 'dev')), `Authorization: Basic ${pair}\n`)
  t.match(config, { 'http.followRedirects': 'false', 'protocol.allow': 'never', 'credential.helper': '' })
})

t.test('git trusts the authorities of one file', async (t) => {
  t.match(onlineEnvironment(place, remote), {
    GIT_SSL_CAINFO: '/ca.pem',
    GIT_PROXY_SSL_CAINFO: '/ca.pem',
    GIT_SSL_CAPATH: '/w/no-authorities',
  })
})

t.test('the limits are passed in the units of ulimit', async (t) => {
  t.match(offlineEnvironment(place), {
    COMMITLET_DEADLINE: '120',
    COMMITLET_MEMORY: '2048',
    COMMITLET_FILE: '6144',
  })
  t.equal(
    offlineEnvironment({ ...place, bounds: { ...place.bounds, fileMiB: undefined } })['COMMITLET_FILE'],
    '',
  )
})

t.test('the proxy is set for the repository as a remote and for nothing else', async (t) => {
  const { proxy } = readProxies({ HTTPS_PROXY: 'http://me:s3cret@proxy.example.com:3128' })
  t.equal(proxyLine(proxy), 'http://me:s3cret@proxy.example.com:3128\n')
  t.equal(proxyLine(undefined), '\n')
  const environment = onlineEnvironment(place, { ...remote, proxy, addresses: undefined })
  const config = configOf(environment)
  t.ok('remote.https://git.example.com/acme/shop.git.proxy' in config)
  t.match(config, { 'http.proxy': 'http://255.255.255.255:1' })
  t.notOk('http.curloptResolve' in config, 'the proxy decides where it goes')
  t.notMatch(JSON.stringify(environment), 's3cret')
})

t.test('the connection goes to the checked addresses', async (t) => {
  const pin = (url: string) =>
    configOf(onlineEnvironment(place, { ...remote, address: addressOf(url) }))['http.curloptResolve']
  t.equal(pin('https://git.example.com/a'), 'git.example.com:443:192.0.2.7,[2001:db8::7]')
  t.equal(pin('https://git.example.com:8443/a'), 'git.example.com:8443:192.0.2.7,[2001:db8::7]')
  t.equal(pin('https://192.0.2.7/a'), undefined, 'there is nothing to look up')
})

t.test('only for a host of INSECURE_HOSTS are certificates not checked and http allowed', async (t) => {
  const config = configOf(onlineEnvironment(place, remote))
  t.match(config, { 'protocol.allow': 'never', 'protocol.https.allow': 'always' })
  t.notMatch(JSON.stringify(config), /sslVerify|protocol.http.allow/)
  const insecure = { ...remote, insecure: true }
  t.match(configOf(onlineEnvironment(place, insecure)), {
    'http.https://git.example.com/acme/shop.git.sslVerify': 'false',
  })
  const address = addressOf('http://git.example.com/acme/shop.git')
  const plain = configOf(onlineEnvironment(place, { ...insecure, address }))
  t.match(plain, { 'protocol.http.allow': 'always', 'http.curloptResolve': /^git.example.com:80:/ })
  t.notOk('protocol.https.allow' in plain)
})

t.test('git itself uses HTTP, and never SSH', async (t) => {
  const address = parseRepositoryAddress('ssh://git@git.example.com/acme/shop.git')
  const config = configOf(onlineEnvironment(place, { ...remote, address }))
  t.same(
    Object.keys(config).filter((key) => /^protocol\..*allow$/.test(key)),
    ['protocol.allow'],
  )
})

t.test('git uses only its own protocol with a tunnel, which is a remote without refspecs', async (t) => {
  const config = configOf(tunnelEnvironment(place, 'git://127.0.0.1:4711/x'))
  t.same(
    Object.keys(config).filter((key) => /^(remote|protocol)\./.test(key)),
    ['protocol.allow', 'protocol.git.allow', 'remote.tunnel.url'],
  )
  t.match(config, { 'protocol.git.allow': 'always', 'remote.tunnel.url': 'git://127.0.0.1:4711/x' })
})
