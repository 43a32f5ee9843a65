import t from 'tap'
import { configMap, gitCommit } from '../harness/installation.ts'
import type { Stored, Team } from '../harness/installation.ts'
import { withCommitlet } from '../harness/shared-installation.ts'

withCommitlet(t, async (t, commitlet) => {
  const { plane } = commitlet
  const dev = await plane.kubeconfigFor({ name: 'dev', groups: ['developers'] })
  const ops = await plane.kubeconfigFor({ name: 'ops' })

  const sharedTeam = (): Promise<Team> => commitlet.createTeam({ developers: ['dev', 'ops'] })

  function apply(team: Team, object: object, kubeconfig: string): ReturnType<Team['kubectl']> {
    return team.kubectl(['apply', '-f', '-'], { input: JSON.stringify(object), kubeconfig })
  }

  t.test('the commit names who applied it', async (t) => {
    const team = await sharedTeam()
    const repository = await commitlet.git.createRepository(team.namespace)
    await team.apply(configMap())
    await apply(team, gitCommit('hers', repository.url), dev)
    const stored = await team.settled('hers')
    t.match(stampOf(stored), ['dev', { username: 'dev', groups: ['developers', 'system:authenticated'] }])
    t.match(await repository.git('log', '-1', '--format=%B', 'main'), /^Requested-by: dev$/m)
  })

  t.test('a forged stamp is overwritten, and updates by other users keep the real one', async (t) => {
    const team = await sharedTeam()
    const forged = {
      'commitlet.dev/requested-by': 'root',
      'commitlet.dev/requester': '{"username":"root"}',
    }
    const object = {
      ...gitCommit('hers', 'https://git.example.com/acme/config.git'),
      metadata: { name: 'hers', annotations: forged },
    }
    await apply(team, object, dev)
    const before = stampOf(await team.get('hers'))
    t.match(before, ['dev', { username: 'dev' }])
    const asJoe = (...args: string[]): ReturnType<Team['kubectl']> => team.kubectl(args, { kubeconfig: ops })
    t.equal((await asJoe('label', 'gitcommit', 'hers', 'a=b')).stderr, '')
    for (const [name, change] of [
      ['requested-by', '=ops'],
      ['requester', '-'],
    ]) {
      const words = ['annotate', 'gitcommit', 'hers', `commitlet.dev/${name}${change}`, '--overwrite']
      t.match((await asJoe(...words)).stderr, `Warning: commitlet.dev/${name} is written by Commitlet alone`)
    }
    t.same(stampOf(await team.get('hers')), before)
    await asJoe('annotate', 'gitcommit', 'hers', 'commitlet.dev/requested-at=now')
    t.match(stampOf(await team.get('hers')), ['ops', { username: 'ops' }])
    await asJoe('patch', 'gitcommit', 'hers', '--type=merge', '-p', '{"spec":{"message":"His"}}')
    t.match(stampOf(await team.get('hers')), ['ops', { username: 'ops' }])
  })

  t.test('what a GitOps tool applies again stays as it is, and shows no drift', async (t) => {
    const team = await sharedTeam()
    const repository = await commitlet.git.createRepository(team.namespace)
    await team.apply(configMap())
    // Argo CD applies as kubectl does, Flux on the server.
    for (const ways of [[], ['--server-side', '--field-manager=kustomize-controller']]) {
      const name = ways.length === 0 ? 'argo' : 'flux'
      const object = gitCommit(name, repository.url, { message: `By ${name}` })
      const run = (...args: string[]): ReturnType<Team['kubectl']> =>
        team.kubectl([...args, ...ways, '-f', '-'], { input: JSON.stringify(object), allowFailure: true })
      t.match(await run('apply'), { code: 0 })
      const { metadata } = await team.settled(name)
      t.match(await run('diff'), { code: 0, stdout: '' }, `${name} sees no difference`)
      t.match(await run('apply'), { code: 0 })
      t.equal((await team.get(name)).metadata.resourceVersion, metadata.resourceVersion, name)
    }
  })
})

function stampOf({ metadata }: Stored): readonly unknown[] {
  const { 'commitlet.dev/requested-by': by, 'commitlet.dev/requester': requester = '{}' } =
    metadata.annotations ?? {}
  return [by, JSON.parse(requester)]
}
