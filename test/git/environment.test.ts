import t from 'tap'
import { loginLine, offlineEnvironment, onlineEnvironment } from '../../functions/git/environment.ts'
import { addressOf, loginOf } from './stage.ts'

const place = { folder: '/w', path: '/bin', bounds: { deadlineSeconds: 120, memoryMiB: 2, fileMiB: 3 } }
const remote = {
  address: addressOf('https://git.example.com/acme/shop.git'),
  login: loginOf('pä:ss', 'dev'),
  authorities: '/ca.pem',
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

t.test('nothing of this process gets in', async (t) => {
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
  t.notOk('GIT_CONFIG_VALUE_0' in onlineEnvironment(place, remote), 'the launcher puts it in')
  const pair = Buffer.from('dev:pä:ss').toString('base64')
  t.equal(loginLine(loginOf('pä:ss', 'dev')), `Authorization: Basic ${pair}\n`)
  t.match(config, { 'http.followRedirects': 'false', 'protocol.allow': 'never', 'credential.helper': '' })
})

t.test('the authorities are named where there are some', async (t) => {
  t.equal(onlineEnvironment(place, remote)['GIT_SSL_CAINFO'], '/ca.pem')
  t.notOk('GIT_SSL_CAINFO' in onlineEnvironment(place, { ...remote, authorities: undefined }))
})

t.test('the bounds are given in the units of ulimit', async (t) => {
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
