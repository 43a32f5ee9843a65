import { createHash } from 'node:crypto'
import t from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import { startRelay } from '../harness/relay.ts'

const PATH = 'shop/settings.yaml'
const IDENTITY = 'Commitlet <commitlet@users.noreply.local>'
const REQUESTED_AT = 'commitlet.dev/requested-at'

withControlPlane(t, async (t, plane) => {
  const relay = await startRelay()
  t.teardown(() => relay.close())
  const commitlet = await install(t, plane, { webhookEnv: { K_SINK: relay.url } })
  relay.targets.push(commitlet.function.url)

  /** A team with a repository, the ConfigMap `shop` and a GitCommit of it that has succeeded. */
  async function settledTeam() {
    const team = await commitlet.createTeam()
    const repository = await commitlet.git.createRepository(`${team.namespace}/config`)
    const resource = (spec: Readonly<Record<string, unknown>> = {}, name = 'shop'): object =>
      gitCommit(name, repository.url, spec)
    await team.apply(configMap(), resource())
    await team.settled('shop')
    /** The number of its events, and the number of commits without the first. */
    const traces = async () => ({
      events: relay.passed.filter((subject) => subject === `${team.namespace}/shop`).length,
      commits: (await repository.log('main')).length - 1,
    })
    /** Once this has been handled, everything sent before it has been handled too. */
    let markers = 0
    const marked = async (): Promise<void> => {
      markers += 1
      await team.apply(resource({ branch: 'markers' }, `marker-${markers}`))
      await team.settled(`marker-${markers}`)
    }
    return { team, repository, resource, traces, marked }
  }

  t.test('apply a GitCommit, and the content is on the branch', async (t) => {
    const team = await commitlet.createTeam()
    const repository = await commitlet.git.createRepository(`${team.namespace}/config`, {
      files: { 'README.md': 'Settings of the shop\n' },
    })
    await team.apply(
      configMap({ colour: 'blue', answer: 'yes', 'banner.txt': 'One\nTwo\n', '10': 'ten', '9': 'nine' }),
    )
    const input = JSON.stringify(gitCommit('shop', repository.url))
    await team.kubectl(['apply', '-f', '-'], { input })
    await team.kubectl(['wait', 'gitcommit', 'shop', '--for=condition=Ready', '--timeout=60s'])
    t.equal(
      await repository.show(`main:${PATH}`),
      `apiVersion: v1
kind: ConfigMap
metadata:
  name: shop
  namespace: ${team.namespace}
data:
  "10": ten
  "9": nine
  answer: "yes"
  banner.txt: |
    One
    Two
  colour: blue
`,
    )
    t.same(await repository.log(), ['Record the shop settings', 'Begin'])
    t.equal(await repository.show('main:README.md'), 'Settings of the shop\n', 'the rest is untouched')
    const { metadata, status } = await team.get('shop')
    t.equal(
      unsealed(await repository.git('log', '-1', '--format=%an <%ae>|%cn <%ce>|%B', 'main')),
      `${IDENTITY}|${IDENTITY}|Record the shop settings

Commitlet-Resource: ${team.namespace}/shop
Commitlet-Id: ${metadata.uid}.1
Commitlet-Seal: SEAL
Requested-by: admin
`,
    )
    const sha = await repository.git('rev-parse', 'main')
    t.match(status, {
      observedGeneration: 1,
      phase: 'Succeeded',
      attempts: 1,
      credentialsUsed: 'Primary',
      commit: { sha, shortSHA: sha.slice(0, 12), branch: 'main', path: PATH },
    })
    t.equal(status['nextAttemptTime'], undefined)
  })

  t.test('the trailers join those that the message ends with', async (t) => {
    const { team, repository, resource } = await settledTeam()
    const message = 'Record it all\n\nBecause it matters.\n\nReviewed-by: Ann Example <dev@example.com>\n'
    await team.apply(resource({ message, branch: 'other', resourceRef: reference('other.yaml') }))
    const { metadata } = await team.settled('shop')
    t.equal(
      unsealed(await repository.git('log', '-1', '--format=%B', 'other')),
      `Record it all

Because it matters.

Reviewed-by: Ann Example <dev@example.com>
Commitlet-Resource: ${team.namespace}/shop
Commitlet-Id: ${metadata.uid}.2
Commitlet-Seal: SEAL
Requested-by: admin
`,
    )
    const keys = await repository.git('log', '-1', '--format=%(trailers:keyonly,separator=%x2C)', 'other')
    t.equal(
      keys,
      'Reviewed-by,Commitlet-Resource,Commitlet-Id,Commitlet-Seal,Requested-by',
      'git reads them all',
    )
  })

  t.test('applied again, nothing happens', async (t) => {
    const { team, resource, traces, marked } = await settledTeam()
    const before = await team.get('shop')
    await team.apply(resource())
    for (let time = 0; time < 2; time += 1)
      await team.kubectl(['apply', '-f', '-'], { input: JSON.stringify(resource()) })
    await team.kubectl(['label', 'gitcommit', 'shop', 'team=shop'])
    await marked()
    t.same(await traces(), { events: 1, commits: 1 })
    t.same((await team.get('shop')).status, before.status)
  })

  t.test('requested again with the same content, it is UpToDate without a commit', async (t) => {
    const { team, repository, traces } = await settledTeam()
    await team.kubectl(['annotate', 'gitcommit', 'shop', `${REQUESTED_AT}=one`])
    const { status } = await team.settled('shop')
    t.match(status, {
      phase: 'Succeeded',
      lastHandledRequestedAt: 'one',
      commit: { sha: await repository.git('rev-parse', 'main') },
    })
    t.match(readyOf({ status }), {
      status: 'True',
      reason: 'UpToDate',
      message: `The branch main already holds this content at ${PATH}; no commit was needed.`,
    })
    t.same(await traces(), { events: 2, commits: 1 })
  })

  t.test('a changed spec makes a second commit', async (t) => {
    const { team, repository, resource, traces } = await settledTeam()
    await team.apply(resource({ message: 'To another place', resourceRef: reference('b.yaml') }))
    const { metadata, status } = await team.settled('shop')
    t.match(status, { phase: 'Succeeded', observedGeneration: 2, commit: { path: 'b.yaml' } })
    t.match(await repository.git('log', '-1', '--format=%B', 'main'), `Commitlet-Id: ${metadata.uid}.2\n`)
    t.same(await traces(), { events: 2, commits: 2 })
  })

  t.test('a changed object is committed when it is requested, and not before', async (t) => {
    const { team, repository, traces, marked } = await settledTeam()
    await team.apply(configMap({ colour: 'green' }))
    await marked()
    t.same(await traces(), { events: 1, commits: 1 })
    await team.request('shop', '2030-01-01T00:00:00+01:00')
    const { metadata, status } = await team.settled('shop')
    t.match(readyOf({ status }), { reason: 'Succeeded' })
    t.match(await repository.show(`main:${PATH}`), 'colour: green')
    const digest = createHash('sha256').update('2030-01-01T00:00:00+01:00').digest('hex').slice(0, 8)
    t.match(
      await repository.git('log', '-1', '--format=%B', 'main'),
      `Commitlet-Id: ${metadata.uid}.1.${digest}\n`,
    )
    t.same(await traces(), { events: 2, commits: 2 })
  })
})

function reference(path: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path }
}

/** A seal is told by the key of this installation alone. */
function unsealed(text: string): string {
  return text.replace(/^Commitlet-Seal: [0-9a-f]{16}$/m, 'Commitlet-Seal: SEAL')
}
