import t from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Stored, Team } from '../harness/installation.ts'

withControlPlane(
  t,
  async (t, plane) => {
    const commitlet = await install(t, plane)
    const jane = await plane.kubeconfigFor({ name: 'jane', groups: ['developers'] })
    const joe = await plane.kubeconfigFor({ name: 'joe' })

    const sharedTeam = (): Promise<Team> => commitlet.createTeam({ developers: ['jane', 'joe'] })

    function apply(team: Team, object: object, kubeconfig: string): ReturnType<Team['kubectl']> {
      return team.kubectl(['apply', '-f', '-'], { input: JSON.stringify(object), kubeconfig })
    }

    t.test('the commit names who applied it', async (t) => {
      const team = await sharedTeam()
      const repository = await commitlet.git.createRepository(team.namespace)
      await team.apply(configMap())
      await apply(team, gitCommit('hers', repository.url), jane)
      const stored = await team.settled('hers')
      t.match(stampOf(stored), ['jane', { username: 'jane', groups: ['developers', 'system:authenticated'] }])
      t.match(await repository.git('log', '-1', '--format=%B', 'main'), /^Requested-by: jane$/m)
    })

    t.test('a forged stamp is overwritten, and stays whoever touches the rest', async (t) => {
      const team = await sharedTeam()
      const forged = {
        'commitlet.dev/requested-by': 'root',
        'commitlet.dev/requester': '{"username":"root"}',
      }
      const object = {
        ...gitCommit('hers', 'https://git.example.com/acme/config.git'),
        metadata: { name: 'hers', annotations: forged },
      }
      await apply(team, object, jane)
      const before = stampOf(await team.get('hers'))
      t.match(before, ['jane', { username: 'jane' }])
      const asJoe = (...args: string[]): ReturnType<Team['kubectl']> =>
        team.kubectl(args, { kubeconfig: joe })
      t.equal((await asJoe('label', 'gitcommit', 'hers', 'a=b')).stderr, '')
      for (const [name, change] of [
        ['requested-by', '=joe'],
        ['requester', '-'],
      ]) {
        const words = ['annotate', 'gitcommit', 'hers', `commitlet.dev/${name}${change}`, '--overwrite']
        t.match(
          (await asJoe(...words)).stderr,
          `Warning: commitlet.dev/${name} is written by Commitlet alone`,
        )
      }
      t.same(stampOf(await team.get('hers')), before)
      await asJoe('annotate', 'gitcommit', 'hers', 'commitlet.dev/requested-at=now')
      t.match(stampOf(await team.get('hers')), ['joe', { username: 'joe' }])
      await asJoe('patch', 'gitcommit', 'hers', '--type=merge', '-p', '{"spec":{"message":"His"}}')
      t.match(stampOf(await team.get('hers')), ['joe', { username: 'joe' }])
    })
  },
  { own: true },
)

function stampOf({ metadata }: Stored): readonly unknown[] {
  const { 'commitlet.dev/requested-by': by, 'commitlet.dev/requester': requester = '{}' } =
    metadata.annotations ?? {}
  return [by, JSON.parse(requester)]
}
