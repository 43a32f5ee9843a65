import t from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import type { Ran } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Team } from '../harness/installation.ts'

const REPOSITORY = 'https://git.example.com/acme/config.git'

async function namesIn(team: Team): Promise<string> {
  return (await team.kubectl(['get', 'gitcommits', '-o', 'name'])).stdout
}

function patchFinalizers(team: Team, name: string, finalizers: readonly string[] | null): Promise<Ran> {
  const patch = JSON.stringify({ metadata: { finalizers } })
  return team.kubectl(['patch', 'gitcommit', name, '--type=merge', '-p', patch])
}

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane)

  t.test('while the webhook is down, labels and deletions pass and no request is possible', async (t) => {
    const team = await commitlet.createTeam()
    const repository = await commitlet.git.createRepository(team.namespace)
    await team.apply(configMap(), gitCommit('shop', repository.url))
    await team.settled('shop')
    await commitlet.webhook.stop()
    await team.kubectl(['label', 'gitcommit', 'shop', 'a=b'])
    await patchFinalizers(team, 'shop', ['example.com/held'])
    const input = JSON.stringify(gitCommit('shop', repository.url, { message: 'Another' }))
    const { code, stderr } = await team.kubectl(['apply', '-f', '-'], { input, allowFailure: true })
    t.equal(code, 1)
    t.match(stderr, 'failed calling webhook "mutate.commitlet.dev"')
    await team.kubectl(['delete', 'gitcommit', 'shop', '--wait=false'])
    t.type((await team.get('shop')).metadata['deletionTimestamp'], 'string', 'deleted, and held')
    await patchFinalizers(team, 'shop', null)
    t.equal(await namesIn(team), '', 'let go')
    t.same(await repository.log(), ['Record the shop settings', 'Begin'], 'the commit stays')
  })

  t.test('while the webhook is down, all of a namespace can be deleted at once', async (t) => {
    const webhook = await commitlet.startWebhook()
    const team = await commitlet.createTeam()
    await team.apply(configMap())
    const path = `/apis/commitlet.dev/v1/namespaces/${team.namespace}/gitcommits`
    const ways = [
      () => team.kubectl(['delete', 'gitcommits', '--all']),
      // Like the controller that empties a namespace.
      () => plane.kubectl(['delete', '--raw', path]),
    ]
    for (const [index, way] of ways.entries()) {
      const running = index === 0 ? webhook : await commitlet.startWebhook()
      await team.apply(gitCommit('one', REPOSITORY), gitCommit('two', REPOSITORY))
      await running.stop()
      t.match(await namesIn(team), /one\n.*two\n$/)
      await way()
      t.equal(await namesIn(team), '')
    }
  })
})
