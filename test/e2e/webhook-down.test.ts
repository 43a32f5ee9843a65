import t from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Stored, Team } from '../harness/installation.ts'

const REPOSITORY = 'https://git.example.com/acme/config.git'

const MERGE = { 'content-type': 'application/merge-patch+json' }

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane)
  const pathOf = ({ namespace }: Team): string => `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits`

  async function namesIn(team: Team): Promise<readonly string[]> {
    const { items } = (await plane.api.need('GET', pathOf(team))) as { readonly items: readonly Stored[] }
    return items.map(({ metadata }) => metadata.name)
  }

  function patch(team: Team, metadata: object): Promise<unknown> {
    return plane.api.need('PATCH', `${pathOf(team)}/shop`, { metadata }, MERGE)
  }

  t.test('while the webhook is down, labels and deletions pass and no request is possible', async (t) => {
    const team = await commitlet.createTeam()
    const repository = await commitlet.git.createRepository(team.namespace)
    await team.apply(configMap(), gitCommit('shop', repository.url))
    await team.settled('shop')
    await commitlet.webhook.stop()
    await patch(team, { labels: { a: 'b' } })
    await patch(team, { finalizers: ['example.com/held'] })
    const another = gitCommit('shop', repository.url, { message: 'Another' })
    const { code, stderr } = await team.applyAs(undefined, another)
    t.equal(code, 1)
    t.match(stderr, 'failed calling webhook "mutate.commitlet.dev"')
    await plane.api.need('DELETE', `${pathOf(team)}/shop`)
    t.type((await team.get('shop')).metadata['deletionTimestamp'], 'string', 'deleted, and held')
    await patch(team, { finalizers: null })
    t.strictSame(await namesIn(team), [], 'let go')
    t.same(await repository.log(), ['Record the shop settings', 'Begin'], 'the commit stays')
  })

  t.test('while the webhook is down, all of a namespace can be deleted at once', async (t) => {
    const webhook = await commitlet.startWebhook()
    const team = await commitlet.createTeam()
    await team.apply(configMap())
    const ways = [
      () => team.kubectl(['delete', 'gitcommits', '--all']),
      // Like the controller that empties a namespace.
      () => plane.api.need('DELETE', pathOf(team)),
    ]
    for (const [index, way] of ways.entries()) {
      const running = index === 0 ? webhook : await commitlet.startWebhook()
      await team.apply(gitCommit('one', REPOSITORY), gitCommit('two', REPOSITORY))
      await running.stop()
      t.strictSame(await namesIn(team), ['one', 'two'])
      await way()
      t.strictSame(await namesIn(team), [])
    }
  })
})
