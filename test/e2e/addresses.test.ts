import { isIP } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { startProxy } from '../harness/connect-proxy.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'

const QUIET = { SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' }
const SENTENCE =
  'HOST is at an address that Commitlet may not connect to; name a repository on another host, or ask your Commitlet operator.'
/** An address behind the Service of the API server. */
const SLICE = {
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: {
    namespace: 'default',
    name: 'commitlet-addresses-test',
    labels: { 'kubernetes.io/service-name': 'kubernetes' },
  },
  addressType: 'IPv4',
  endpoints: [{ addresses: ['192.0.2.66'] }],
  ports: [{ name: 'https', port: 6443 }],
}
/** The two passwords below, and how the base64 of `me:…` begins. */
const SECRETS = /s3cret|wr0ng|bWU6/

withControlPlane(t, async (t, plane) => {
  const { hostname, port } = new URL(plane.url)
  // The function reads them at its start.
  await plane.apply(`${JSON.stringify(SLICE)}\n`)
  t.teardown(() => plane.kubectl(['-n', 'default', 'delete', 'endpointslice', SLICE.metadata.name]))
  const commitlet = await install(t, plane, { webhookEnv: QUIET })
  const { git } = commitlet
  const pod = { KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }

  async function refused(t: Test, repository: string): Promise<void> {
    const team = await commitlet.createTeam()
    await team.apply(configMap(), gitCommit('shop', repository))
    await team.waitFor('shop', 'condition=Stalled', '60s')
    const { status } = await team.get('shop')
    const host = new URL(repository).hostname.replace(/[[\]]/g, '')
    const message = SENTENCE.replace('HOST', host)
    const [ready] = status['conditions'] as readonly unknown[]
    t.match(status, { phase: isIP(host) === 0 ? 'Retrying' : 'Failed', attempts: 1 }, repository)
    t.match(ready, { type: 'Ready', reason: 'AddressForbidden', message })
  }

  t.test('metadata services and the API server are forbidden wherever the function runs', async (t) => {
    await refused(t, 'https://169.254.169.254/acme/shop.git')
    await refused(t, 'https://[::ffff:a9fe:a9fe]/acme/shop.git')
    for (const host of ['localhost', '127.0.0.1']) await refused(t, `https://${host}:${port}/acme/shop.git`)
  })

  t.test('the addresses behind the Service of the API server are forbidden, too', async (t) => {
    await refused(t, 'https://192.0.2.66:6443/acme/shop.git')
    await refused(t, 'https://[::ffff:c000:242]:6443/acme/shop.git')
    t.notMatch(commitlet.function.lines.join('\n'), 'endpointslices')
  })

  t.test('in a cluster loopback is forbidden, and nothing is sent there', async (t) => {
    const { url } = await git.createRepository('addresses/loopback')
    const before = git.requests.length
    await commitlet.function.stop()
    const inside = await commitlet.startFunction(pod)
    for (const host of ['localhost', '127.0.0.1']) await refused(t, url.replace('localhost', host))
    t.equal(git.requests.length, before)
    await inside.stop()
  })

  t.test('a proxy decides on its own, and its password is shown nowhere', async (t) => {
    const proxy = await startProxy({ login: 'me:pr0xy/s3cret' })
    t.teardown(() => proxy.close())
    const through = (login: string) => {
      const HTTPS_PROXY = `http://${login}@127.0.0.1:${proxy.port}`
      return commitlet.startFunction({ ...pod, HTTPS_PROXY, LOG_LEVEL: 'trace' })
    }
    const team = await commitlet.createTeam()
    const repository = await git.createRepository(team.namespace)
    const good = await through('me:pr0xy%2Fs3cret')
    await team.apply(configMap(), gitCommit('shop', repository.url))
    t.match((await team.settled('shop')).status, { phase: 'Succeeded' })
    t.ok(proxy.connects.includes(`localhost:${git.port}`))
    await good.stop()

    const bad = await through('me:wr0ng')
    await team.apply(gitCommit('other', repository.url))
    await team.waitFor('other', 'jsonpath={.status.phase}=Retrying', '60s')
    const stored = JSON.stringify(await team.get('other'))
    t.match(stored, /does not accept the user name and password/)
    const events = await team.kubectl(['get', 'events', '-o', 'yaml'])
    t.notMatch(stored + events.stdout, SECRETS)
    t.notMatch([...good.lines, ...bad.lines].join('\n'), SECRETS)
    await bad.stop()
  })
})
