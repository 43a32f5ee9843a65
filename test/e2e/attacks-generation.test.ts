import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { configurationName } from '../harness/commitlet.ts'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import type { GitRepository } from '../harness/git-repository.ts'
import { gitCommit, install } from '../harness/installation.ts'
import type { Team } from '../harness/installation.ts'
import { grant, reviewed, RULES } from '../harness/rights.ts'
import { waitFor } from '../harness/wait.ts'
import { stageTenant } from './tenant-stage.ts'

/** May update GitCommits, and nothing else. */
const EDITOR = 'other'

const filesWith = (value: string, zero = '0'): string =>
  `{"spec":{"files":[{"path":"a.yaml","set":[{"field":".replicas","value":${value}},{"field":".zero","value":${zero}}]}]}}`

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane)

  /** The admin has committed `replicas: 1` by the GitCommit `shop`, and then `replicas: 5` by another. */
  async function stage(): Promise<{ readonly team: Team; readonly repository: GitRepository }> {
    const { team, repository } = await stageTenant(commitlet)
    await team.apply(...grant('less', EDITOR, [RULES.gitCommits]))
    const apply = async (name: string, file: object): Promise<void> => {
      await team.apply(gitCommit(name, repository.url, { resourceRef: undefined, files: [file] }))
      t.match(readyOf(await team.settled(name)), { reason: 'Succeeded' })
    }
    await apply('first', { path: 'a.yaml', content: 'replicas: 0\nzero: 1\n' })
    const set = [
      { field: '.replicas', value: 1 },
      { field: '.zero', value: 0 },
    ]
    await apply('shop', { path: 'a.yaml', set })
    await apply('last', { path: 'a.yaml', content: 'replicas: 5\nzero: 5\n' })
    const right = { verb: 'patch', resource: 'gitcommits', group: 'commitlet.dev', namespace: team.namespace }
    await waitFor('right', async () => (await reviewed(plane, EDITOR, right)) || undefined, 30_000)
    return { team, repository }
  }

  /** What kubectl says to the editor who sends this text, in which numbers stay as they are written. */
  async function patch(team: Team, text: string, type = 'merge'): Promise<string> {
    const args = ['patch', 'gitcommit', 'shop', '--type', type, '-p', text, `--as=${EDITOR}`]
    const { code, stderr } = await team.kubectl(args, { allowFailure: true })
    return code === 0 ? '' : stderr
  }

  async function replace(t: Test, team: Team, from: RegExp, to: string): Promise<string> {
    const { stdout } = await team.kubectl(['get', 'gitcommit', 'shop', '-o', 'json'])
    const file = join(t.testdir(), 'shop.json')
    await writeFile(file, stdout.replace(from, to))
    const path = `/apis/commitlet.dev/v1/namespaces/${team.namespace}/gitcommits/shop`
    const { code, stderr } = await team.kubectl(['replace', '--raw', path, '-f', file, `--as=${EDITOR}`], {
      allowFailure: true,
    })
    return code === 0 ? '' : stderr
  }

  t.test('nothing that the webhook takes for no request has it committed again', async (t) => {
    const { team, repository } = await stage()
    const before = await team.get('shop')
    const value = '/spec/files/0/set/0/value'
    const one = (text: string) => `[{"op":"replace","path":"${value}","value":${text}}]`
    const said = [
      await patch(team, filesWith('1.0')),
      await patch(team, filesWith('1', '-0.0')),
      await replace(t, team, /"value": 1\b/, '"value": 1.0'),
      // Together with what is no request either, and with a request, which has to be the editor's own.
      await patch(team, filesWith('1.0').replace('{', '{"metadata":{"labels":{"a":"b"}},')),
    ]
    for (const answer of said) t.match(answer, /only in how a number is written/)
    const requested = '{"metadata":{"annotations":{"commitlet.dev/requested-at":"now"}},'
    t.match(await patch(team, filesWith('1.0').replace('{', requested)), /denied the request/)
    const passed = [
      // The API server takes these for the number that is there.
      await patch(team, one('1.0'), 'json'),
      await patch(team, one('1e0'), 'json'),
      await patch(team, '{"metadata":{"generation":99}}'),
      await replace(t, team, /"generation": 1,/, ''),
      await patch(team, '{"status":{"phase":"Pending"},"other":{"a":1}}'),
      await patch(team, '{"metadata":{"labels":{"a":"b"}}}'),
      // Only `suspend` changes for the webhook, which notes the generation.
      await patch(team, filesWith('1.0').replace('"files"', '"suspend":true,"files"')),
      await patch(team, '{"spec":{"suspend":false}}'),
    ]
    t.same(passed, Array(passed.length).fill(''))
    const stored = await waitFor(
      'observed',
      async () => {
        const one = await team.get('shop')
        return one.status['observedGeneration'] === one.metadata.generation ? one : undefined
      },
      30_000,
    )
    t.equal(stored.metadata.generation, 3)
    t.match(stored.status, { phase: 'Succeeded', attempts: 1, commit: Object(before.status['commit']) })
    t.match(await repository.git('show', 'main:a.yaml'), /^replicas: 5\n/)
  })

  t.test('a generation that grew while the webhook was off is no request of who applied it', async (t) => {
    const { team, repository } = await stage()
    const name = configurationName(plane)
    await plane.kubectl(['delete', 'mutatingwebhookconfiguration,validatingwebhookconfiguration', name])
    // No event announces it: the sweep of a restarted webhook finds it.
    await commitlet.webhook.stop()
    t.equal(await patch(team, filesWith('1.0')), '')
    t.equal((await team.get('shop')).metadata.generation, 2)
    await commitlet.startWebhook({ SWEEP_INTERVAL: '1', SWEEP_FULL_INTERVAL: '1' })
    const message = /does not prove who asked for it/
    t.match(readyOf(await team.settled('shop')), { reason: 'ReferenceForbidden', message })
    t.match(await repository.git('show', 'main:a.yaml'), /^replicas: 5\n/)
  })
})
