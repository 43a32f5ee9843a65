import t from 'tap'
import { makeAuthority } from '../harness/certificates.ts'
import { startProxy } from '../harness/connect-proxy.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { startGitServer } from '../harness/git-server.ts'
import { install } from '../harness/installation.ts'
import type { Stored } from '../harness/installation.ts'
import { startRelay } from '../harness/relay.ts'
import { sample } from '../harness/sample.ts'
import { waitFor } from '../harness/wait.ts'
import { leaksIn, PASSWORD, TOKEN } from './distinctive-secrets.ts'
import { CASES, SECRET, SITES } from './pull-request-redaction-cases.ts'
import { HEAD, hostRepository } from './pull-request-stage.ts'

const MINUTE = 60_000

withControlPlane(t, async (t, plane) => {
  const server = await startGitServer({
    users: [{ password: TOKEN }],
    authority: await makeAuthority(),
    certificate: { names: ['localhost', 'api.bitbucket.org'] },
  })
  t.teardown(() => server.close())
  const proxy = await startProxy({ leads: { 'api.bitbucket.org:443': server.port } })
  t.teardown(() => proxy.close())
  const relay = await startRelay()
  t.teardown(() => relay.close())
  const commitlet = await install(t, plane, {
    functionEnv: {
      HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`,
      CA_FILE: server.caFile,
      LOG_LEVEL: 'trace',
    },
    webhookEnv: { K_SINK: relay.url, LOG_LEVEL: 'trace', SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' },
  })
  relay.targets.push(commitlet.function.url)
  const team = await commitlet.createTeam({ secrets: [SECRET.metadata.name] })
  await team.apply(SECRET)

  // Each case at one of the hosts; test/providers/redaction has the same faults below.
  const pairs = SITES.flatMap((site) => CASES.map((one) => ({ site, one })))
  const drawn = sample(pairs, ({ one }) => one.name)
  for (const site of SITES) {
    const cases = drawn.filter((pair) => pair.site === site).map(({ one }) => one)
    t.test(`${site.dialect.name}: each case ends as expected, without a secret in its status`, async (t) => {
      const objects = cases.map(async ({ name, fault, method, key = 'token' }) => {
        const path = `${team.namespace}/${site.dialect.name}-${name}`
        const tokens = [TOKEN, PASSWORD]
        const hosted = await hostRepository(server, { ...site, path }, { tokens })
        await hosted.repository.commit(HEAD, { 'settings.yaml': 'colour: blue\n' })
        if (fault !== undefined) hosted.api.fail(fault, (asked) => asked === (method ?? 'GET'))
        const credentials = { secretName: SECRET.metadata.name, ...site.keys(key) }
        return hosted.pullRequest(`${site.dialect.name}-${name}`, { credentials })
      })
      await team.apply(...(await Promise.all(objects)))
      for (const { name, reasons } of cases) {
        const stored = await waitFor(
          `end of ${name}`,
          async () => {
            const found = await team.get(`${site.dialect.name}-${name}`, 'pullrequest')
            return reasonOf(found) === 'Progressing' ? undefined : found
          },
          MINUTE,
        )
        t.ok(reasons.includes(reasonOf(stored)), `${name}: ${reasonOf(stored)}`)
        t.strictSame(leaksIn(JSON.stringify(stored)), [], name)
      }
    })
  }

  t.test('nothing that both parts wrote, answered or stored holds a secret', async (t) => {
    const spoken: Record<string, string> = {
      'log of the function': commitlet.function.lines.join('\n'),
      'log of the webhook': commitlet.webhook.lines.join('\n'),
      'answers of the function': JSON.stringify(relay.answers),
      resources: (await team.kubectl(['get', 'pullrequests', '-o', 'json'])).stdout,
      events: (await team.kubectl(['get', 'events.events.k8s.io', '-o', 'json'])).stdout,
      descriptions: (await team.kubectl(['describe', 'pullrequests'])).stdout,
      'requests to the proxy': proxy.heads.join('\n'),
    }
    for (const [where, text] of Object.entries(spoken)) {
      t.ok(text.length > 40, `${where}: there is something to look at`)
      t.strictSame(leaksIn(text), [], where)
    }
    t.notMatch(spoken['log of the function'], /internal error/)
    const { stdout } = await team.kubectl(['get', 'secret', SECRET.metadata.name, '-o', 'json'])
    t.ok(leaksIn(stdout).length > 0, 'a secret that is there is found')
  })
})

function reasonOf({ status }: Stored): string {
  const [ready] = (status['conditions'] ?? []) as readonly { readonly reason: string }[]
  return ready?.reason ?? 'Progressing'
}
