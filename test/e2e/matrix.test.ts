import t from 'tap'
import type { Test } from 'tap'
import { readyOf } from '../harness/conditions.ts'
import type { Stored } from '../harness/installation.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { withSSHServer } from '../harness/ssh-server.ts'
import type { SSHServer } from '../harness/ssh-server.ts'
import { sentencesIn } from '../harness/denials.ts'
import { waitFor } from '../harness/wait.ts'
import { leakFinder } from './distinctive-secrets.ts'
import { MATRIX } from './matrix-cases.ts'
import { serverOptions, stageMatrix } from './matrix-stage.ts'
import { makeKeys, secretsIn } from './matrix-values.ts'
import type { MatrixKeys } from './matrix-values.ts'
import { contentsBelow } from './redaction-places.ts'

const keys = makeKeys()

withSSHServer(
  t,
  async (t, ssh) => {
    await withControlPlane(t, (t, plane) => runMatrix(t, plane, { ssh, keys }))
  },
  serverOptions(t, keys),
)

async function runMatrix(
  t: Test,
  plane: ControlPlane,
  remote: { readonly ssh: SSHServer; readonly keys: MatrixKeys },
): Promise<void> {
  const stage = await stageMatrix(t, plane, { ...remote, count: MATRIX.length })
  const { team, commitlet, values, folder } = stage
  const cases = MATRIX.map((one, index) => ({ one, index, ...stage.objectsOf(one, index) }))
  const stored = cases.filter(({ one }) => one.reason !== 'refused')
  await team.apply(...cases.flatMap(({ secrets }) => secrets))
  await team.apply(...stored.map(({ resource }) => resource))

  for (const { one, index, resource } of cases) {
    const title = `${one.credentials} at ${one.address}, ${one.state}: ${one.reason}`
    if (one.reason === 'refused') {
      t.test(title, async (t) => {
        const { code, stderr } = await team.applyAs(undefined, resource)
        t.equal(code, 1)
        t.same(sentencesIn(stderr), [stage.messageOf(one, index)])
      })
      continue
    }
    t.test(title, async (t) => {
      const ended = await waitFor(`end of ${title}`, () => endedOf(`c${index}`), 60_000)
      const { reason, message } = readyOf(ended)
      t.same({ reason, message }, { reason: one.reason, message: stage.messageOf(one, index, ended) })
      t.equal(ended.status['credentialsUsed'], one.used)
    })
  }

  t.test('after all of it, no secret is in a status, an event, a log, an answer or a file', async (t) => {
    const leaksIn = leakFinder(secretsIn(values))
    const places: Readonly<Record<string, string>> = {
      'log of the function': commitlet.function.lines.join('\n'),
      'log of the webhook': commitlet.webhook.lines.join('\n'),
      resources: (await team.kubectl(['get', 'gitcommits', '-o', 'json'])).stdout,
      events: (await team.kubectl(['get', 'events.events.k8s.io', '-o', 'json'])).stdout,
    }
    for (const [where, text] of Object.entries(places)) {
      t.not(text, '', `${where}: there is something to look at`)
      t.strictSame(leaksIn(text), [], where)
    }
    t.strictSame(leaksIn(await contentsBelow(folder)), [], 'files')
    const { stdout } = await team.kubectl(['get', 'secrets', '-o', 'json'])
    t.ok(leaksIn(stdout).length > 10, 'secrets that are there are found')
  })

  async function endedOf(name: string): Promise<Stored | undefined> {
    const seen = await team.get(name)
    return ['Succeeded', 'Failed', 'Retrying'].includes(String(seen.status['phase'])) ? seen : undefined
  }
}
