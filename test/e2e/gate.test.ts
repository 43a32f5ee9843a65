import t from 'tap'
import { extendReader } from '../harness/accounts.ts'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import type { Ran } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Stored, Team } from '../harness/installation.ts'
import { applyAs, kubectlApplyAs, grant, RULES, until } from '../harness/rights.ts'
import type { Rule } from '../harness/rights.ts'

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane, {
    functionEnv: { REFERENCE_SCOPE: 'any' },
    webhookEnv: { REFERENCE_SCOPE: 'any' },
  })
  // The right of the function itself to read it does not decide who may have it committed.
  await extendReader(plane, 'rbac.authorization.k8s.io', 'clusterroles')

  async function teamOf(user: string, ...rules: readonly Rule[]): Promise<Team> {
    const team = await commitlet.createTeam()
    await team.apply(configMap(), ...grant('user', user, [RULES.gitCommits, ...rules]))
    return team
  }

  /** Refused, and retried slowly: the owner of the Secret may fix it. */
  async function refused(team: Team, name: string): Promise<Stored> {
    await team.waitFor(name, 'jsonpath={.status.phase}=Retrying', '60s')
    return team.get(name)
  }

  function sentBy({ namespace }: Team): number {
    return commitlet.git.requests.filter(({ repository }) => repository === namespace).length
  }

  t.test(
    'a user who may not read the object is denied at apply, with verb, object and namespace',
    async (t) => {
      const team = await teamOf('ops', RULES.readSecrets)
      const object = gitCommit('shop', 'https://git.example.com/acme/config.git')
      const denied =
        /Error from server \(Forbidden\).*spec\.resourceRef is the ConfigMap shop in the namespace (\S+), which ops may not `get`; /
      for (const flags of [[], ['--dry-run=server'], ['--server-side']]) {
        const { stderr } = await until('denial', () => kubectlApplyAs(team, 'ops', object, ...flags), denied)
        t.equal(denied.exec(stderr)?.[1], team.namespace, flags.join(' '))
      }
      t.match(await team.kubectl(['get', 'gitcommits', '-o', 'name']), { stdout: /^$/ }, 'nothing is stored')
    },
  )

  t.test('a user who may neither read nor use the Secret is denied, whether it exists or not', async (t) => {
    const team = await teamOf('ops', RULES.readConfigMaps)
    for (const secretName of ['git', 'nothing-of-this-name']) {
      const object = gitCommit('shop', 'https://git.example.com/acme/config.git', {
        credentials: { secretName },
      })
      const sentence = `The Secret ${secretName} in the namespace ${team.namespace} is not one that ops may \`get\`, or may \`use\` for this repository (\`use\` counts only while the annotation commitlet.dev/allowed-repositories of the Secret covers it); ask the owner of the Secret, or name another one.`
      await until('denial', () => applyAs(team, 'ops', object), /Error from server \(Forbidden\).*The Secret/)
      const { stderr } = await applyAs(team, 'ops', object)
      t.ok(stderr.includes(sentence), stderr)
      t.notMatch(stderr, 'Warning')
    }
  })

  t.test('a Secret that may only be used goes where its annotation says, and reveals nothing', async (t) => {
    const team = await teamOf('ops', RULES.readConfigMaps, RULES.useSecrets)
    const repository = await commitlet.git.createRepository(team.namespace)
    const sentence = (name: string): string =>
      `The Secret ${name} in the namespace ${team.namespace} is not one that ops may \`get\`, or may \`use\` for this repository (\`use\` counts only while the annotation commitlet.dev/allowed-repositories of the Secret covers it); ask the owner of the Secret, or name another one.`
    await until('admission', () => applyAs(team, 'ops', gitCommit('one', repository.url)), /created/)
    t.match(readyOf(await refused(team, 'one')), {
      reason: 'ReferenceForbidden',
      message: sentence('git'),
    })
    const missing = { credentials: { secretName: 'gone', tokenKey: 'token' } }
    await team.kubectl([
      'create',
      'rolebinding',
      'all',
      '--role=all',
      '--serviceaccount=commitlet-system:commitlet-function',
    ])
    await team.kubectl(['create', 'role', 'all', '--verb=get', '--resource=secrets'])
    const ran = await applyAs(team, 'ops', gitCommit('two', repository.url, missing))
    t.match(ran, { code: 0, stderr: '' }, 'no warning tells that it is missing')
    t.match(readyOf(await refused(team, 'two')), {
      reason: 'ReferenceForbidden',
      message: sentence('gone'),
    })
    const { host } = new URL(repository.url)
    const bind = (list: string): Promise<Ran> =>
      team.kubectl(['annotate', 'secret', 'git', `commitlet.dev/allowed-repositories=${list}`, '--overwrite'])
    await bind('git.example.com/acme')
    await applyAs(team, 'ops', gitCommit('three', repository.url))
    t.match(readyOf(await refused(team, 'three')), { message: sentence('git') })
    t.equal(sentBy(team), 0, 'nothing was sent until now')
    await bind(host)
    await applyAs(team, 'ops', gitCommit('four', repository.url))
    t.match(readyOf(await team.settled('four')), { status: 'True', reason: 'Succeeded' })
  })

  t.test('every right in their namespace gives a tenant nothing beyond it', async (t) => {
    const team = await commitlet.createTeam()
    await team.apply(configMap(), ...grant('everything', 'tenant', [RULES.everything]))
    const other = await commitlet.createTeam()
    await other.apply(configMap({ colour: 'secret' }))
    const { url } = await commitlet.git.createRepository(team.namespace)
    await until('admission', () => applyAs(team, 'tenant', gitCommit('own', url)), /created/)
    t.match(readyOf(await team.settled('own')), { reason: 'Succeeded' })
    const elsewhere = [
      [
        { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'cluster-admin' },
        'the ClusterRole cluster-admin, which tenant may not `get`',
      ],
      [
        { apiVersion: 'v1', kind: 'Namespace', name: team.namespace },
        `the Namespace ${team.namespace}, which tenant may not \`get\``,
      ],
      [
        { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', namespace: other.namespace },
        `the ConfigMap shop in the namespace ${other.namespace}, which tenant may not \`get\``,
      ],
    ] as const
    for (const [reference, complaint] of elsewhere) {
      const object = gitCommit('other', url, { resourceRef: { ...reference, path: 'x.yaml' } })
      const { stderr } = await applyAs(team, 'tenant', object)
      t.match(stderr, /^Error from server \(Forbidden\)/, reference.kind)
      t.ok(stderr.includes(`spec.resourceRef is ${complaint}`), stderr)
    }
    const foreign = gitCommit('other', url, {
      resourceRef: {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'ClusterRole',
        name: 'view',
        path: 'x.yaml',
      },
    })
    await team.apply(foreign)
    t.match(readyOf(await team.settled('other')), { reason: 'Succeeded' }, 'an admin may')
  })

  t.test('rights revoked between apply and attempt end it', async (t) => {
    let running = commitlet.function
    for (const [kind, role] of [
      ['ConfigMap', 'reads'],
      ['Secret', 'uses'],
    ] as const) {
      const team = await commitlet.createTeam()
      await team.apply(configMap(), ...grant('writes', 'ops', [RULES.gitCommits]))
      await team.apply(...grant('reads', 'ops', [RULES.readConfigMaps]))
      await team.apply(...grant('uses', 'ops', [{ ...RULES.useSecrets, verbs: ['get', 'use'] }]))
      const { url } = await commitlet.git.createRepository(team.namespace)
      const once = (): Promise<Ran> => applyAs(team, 'ops', gitCommit('shop', url))
      await until('admission', once, /created/)
      t.match(readyOf(await team.settled('shop')), { reason: 'Succeeded' })
      await running.stop()
      await applyAs(team, 'ops', gitCommit('shop', url, { message: 'Again' }))
      await team.kubectl(['delete', 'rolebinding', role])
      const question = ['auth', 'can-i', 'get', `${kind.toLowerCase()}s`, '--as=ops']
      await until('revocation', () => team.kubectl(question, { allowFailure: true }), /^no/)
      running = await commitlet.startFunction()
      const stored = await team.settled('shop')
      t.match(stored.status, { phase: 'Failed', attempts: 1 }, kind)
      t.match(readyOf(stored), { reason: 'ReferenceForbidden', message: kind })
    }
  })
})
