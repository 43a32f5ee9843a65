import t from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Stored } from '../harness/installation.ts'
import { kstatus } from '../harness/kstatus.ts'
import { steady } from '../harness/steady.ts'
import { startRelay } from '../harness/relay.ts'

t.snapshotFile = `${import.meta.dirname}/snapshots/print.cjs`
const NO_SWEEP = { SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' }

withControlPlane(t, async (t, plane) => {
  const relay = await startRelay()
  t.teardown(() => relay.close())
  const commitlet = await install(t, plane, { webhookEnv: { K_SINK: relay.url, ...NO_SWEEP } })
  relay.targets.push(commitlet.function.url)
  const team = await commitlet.createTeam({ secrets: ['git', 'old'] })
  const { git } = commitlet
  const [config, broken, other] = [
    await git.createRepository('acme/config'),
    await git.createRepository('acme/broken'),
    await git.createRepository('acme/other', {
      hooks: { 'pre-receive': 'echo "main is protected: open a pull request" >&2\nexit 1' },
    }),
  ]
  git.faults.add({ kind: 'status', status: 503 }, { repository: broken.name })
  const wrong = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'old' },
    stringData: { token: 'expired' },
  }
  await team.apply(configMap(), wrong)

  const phaseIs = (phase: string): string => `jsonpath={.status.phase}=${phase}`
  await team.apply(gitCommit('a-succeeded', config.url))
  await team.waitFor('a-succeeded', phaseIs('Succeeded'), '60s')
  await team.apply(
    gitCommit('b-up-to-date', config.url),
    gitCommit('c-retrying', broken.url),
    gitCommit('d-push-rejected', other.url),
    gitCommit('e-wrong-token', config.url, { credentials: { secretName: 'old', tokenKey: 'token' } }),
  )
  await team.waitFor('b-up-to-date', phaseIs('Succeeded'), '60s')
  await team.waitFor('c-retrying', phaseIs('Retrying'), '60s')
  await team.waitFor('d-push-rejected', phaseIs('Failed'), '60s')
  await team.waitFor('e-wrong-token', phaseIs('Retrying'), '60s')
  relay.losing = true
  await team.apply(gitCommit('f-fresh', config.url))
  const STATES = ['a-succeeded', 'b-up-to-date', 'c-retrying', 'd-push-rejected', 'e-wrong-token', 'f-fresh']

  t.test('kubectl get', async (t) => {
    t.matchSnapshot(steady((await team.kubectl(['get', 'gitcommits'])).stdout, team.namespace))
  })

  t.test('kubectl get -o wide', async (t) => {
    t.matchSnapshot(steady((await team.kubectl(['get', 'gitcommits', '-o', 'wide'])).stdout, team.namespace))
  })

  t.test('the wide table is at most 200 columns wide, but for the message at its end', async (t) => {
    const [head = ''] = (await team.kubectl(['get', 'gitcommits', '-o', 'wide'])).stdout.split('\n')
    t.match(head, /HANDLED +MESSAGE$/)
    t.ok(head.indexOf('MESSAGE') <= 200, `${head.indexOf('MESSAGE')} columns`)
  })

  for (const name of STATES) {
    t.test(`kubectl describe: ${name}`, async (t) => {
      t.matchSnapshot(steady((await team.kubectl(['describe', 'gitcommit', name])).stdout, team.namespace))
    })
  }

  t.test('kstatus reads every phase', async (t) => {
    const table = [
      ['f-fresh', 'Pending', 'InProgress'],
      ['a-succeeded', 'Succeeded', 'Current'],
      ['b-up-to-date', 'Succeeded', 'Current'],
      ['c-retrying', 'Retrying', 'InProgress'],
      ['d-push-rejected', 'Failed', 'Failed'],
      ['e-wrong-token', 'Retrying', 'Failed'],
    ] as const
    for (const [name, phase, read] of table) {
      const stored = await team.get(name)
      t.equal(stored.status['phase'], phase, name)
      t.equal(kstatus(stored), read, name)
    }
  })

  t.test('kstatus reads a changed, a progressing and a deleted one', async (t) => {
    const read = async (): Promise<[unknown, string]> => {
      const stored: Stored = await team.get('a-succeeded')
      return [stored.status['phase'], kstatus(stored)]
    }
    await team.apply(gitCommit('a-succeeded', config.url, { message: 'Changed', branch: 'changed' }))
    t.same(await read(), ['Succeeded', 'InProgress'], 'changed, and nobody was told')
    relay.losing = false
    const { promise: until, resolve } = Promise.withResolvers<undefined>()
    t.teardown(() => resolve(undefined))
    git.faults.add(
      { kind: 'hold', when: 'before', until },
      { repository: config.name, exchange: 'receive-pack' },
    )
    await team.kubectl(['annotate', 'gitcommit', 'a-succeeded', 'commitlet.dev/requested-at=now'])
    await team.waitFor('a-succeeded', phaseIs('Progressing'), '60s')
    t.same(await read(), ['Progressing', 'InProgress'])
    const hold = '{"metadata":{"finalizers":["example.com/hold"]}}'
    await team.kubectl(['patch', 'gitcommit', 'f-fresh', '--type=merge', '-p', hold])
    await team.kubectl(['delete', 'gitcommit', 'f-fresh', '--wait=false'])
    t.equal(kstatus(await team.get('f-fresh')), 'Terminating')
    await team.kubectl([
      'patch',
      'gitcommit',
      'f-fresh',
      '--type=merge',
      '-p',
      '{"metadata":{"finalizers":null}}',
    ])
  })

  t.test('short names and the category', async (t) => {
    for (const word of ['gcommit', 'gitcommit', 'gitcommits', 'commitlet'])
      t.match(
        (await team.kubectl(['get', word, '-o', 'name'])).stdout,
        'gitcommit.commitlet.dev/a-succeeded',
        word,
      )
    for (const word of ['gpr', 'pullrequest', 'pullrequests'])
      t.match(await team.kubectl(['get', word]), { code: 0, stderr: /^No resources found/ }, word)
  })

  t.test('kubectl explain describes each field', async (t) => {
    const table = [
      [
        'gitcommit.spec.resourceRef.path',
        /relative to the top of the repository.* Example: clusters\/prod\/shop-settings\.yaml/,
      ],
      ['gitcommit.spec.branch', /Defaults to the repository's default branch.* Example: main/],
      ['gitcommit.spec.credentials', /never the values.* tokenKey <string> .*Example: token/],
      ['gitcommit.status.phase', /ENUM: Pending Progressing Retrying Succeeded Failed/],
      ['pullrequest.spec.headBranch', /branch of a fork as owner:branch.*cannot be changed later/],
    ] as const
    for (const [field, taught] of table) {
      const { stdout } = await team.kubectl(['explain', field])
      t.match(stdout.replace(/\s+/g, ' '), taught, field)
    }
  })

  t.test('every example can be applied', async (t) => {
    const { stdout, stderr } = await team.kubectl(['apply', '-f', 'examples/', '--dry-run=server'])
    t.equal(stderr, '')
    t.equal(stdout.match(/^gitcommit\.commitlet\.dev\/\S+ created \(server dry run\)$/gm)?.length, 3)
  })
})
