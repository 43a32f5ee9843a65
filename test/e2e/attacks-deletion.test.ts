import t from 'tap'
import { openAs } from '../cluster/stage.ts'
import { configMap, gitCommit } from '../harness/installation.ts'
import type { Stored } from '../harness/installation.ts'
import { grant, reviewed, RULES } from '../harness/rights.ts'
import { withCommitlet } from '../harness/shared-installation.ts'
import { waitFor } from '../harness/wait.ts'

/** Values that a sender may write as the deletion time. */
const TIMES = [null, '', '0001-01-01T00:00:00Z', 5, 'x', '2030-01-01T00:00:00Z'] as const
const FORGED = {
  'commitlet.dev/requested-by': 'admin',
  'commitlet.dev/requester': '{"username":"admin","groups":["system:masters"]}',
}
const TYPES = { apply: 'application/apply-patch+yaml', json: 'application/json-patch+json' } as const

withCommitlet(t, async (t, commitlet) => {
  const { plane } = commitlet
  const poor = openAs(await plane.kubeconfigFor({ name: 'poor' }))

  t.test('a resource that only pretends to be deleted is judged and stamped as any other', async (t) => {
    const team = await commitlet.createTeam()
    await team.apply(configMap(), ...grant('poor', 'poor', [RULES.gitCommits]))
    const held = { name: 'held', finalizers: ['test.example.com/held'] }
    await team.apply({ ...gitCommit('held', 'https://git.example.com/acme/config'), metadata: held })
    const right = { verb: 'create', group: 'commitlet.dev', resource: 'gitcommits' }
    const { namespace } = team
    const may = async () => (await reviewed(plane, 'poor', { ...right, namespace })) || undefined
    await waitFor('right', may, 30_000)
    const base = `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits`

    for (const [index, deletionTimestamp] of TIMES.entries()) {
      const title = JSON.stringify(deletionTimestamp)
      const name = `sly-${index}`
      const body = {
        ...gitCommit(name, 'https://git.example.com/acme/config'),
        metadata: { name, deletionTimestamp, annotations: FORGED },
      }
      await poor({ method: 'POST', path: base, body })
      const apply = `${base}/${name}?fieldManager=poor&force=true`
      await poor({ method: 'PATCH', path: apply, contentType: TYPES.apply, body })
      const { status } = await plane.api.ask('GET', `${base}/${name}`)
      t.equal(status, 404, `${title}: it names what the user may not read, so it is not stored`)

      const edit = [
        { op: 'add', path: '/metadata/deletionTimestamp', value: deletionTimestamp },
        { op: 'replace', path: '/spec/message', value: `Changed by ${index}` },
      ]
      await poor({ method: 'PATCH', path: `${base}/held`, contentType: TYPES.json, body: edit })
      const before = await team.get('held')
      const put = {
        ...before,
        metadata: { ...before.metadata, deletionTimestamp },
        spec: { ...before.spec, message: `Put by ${index}` },
      }
      await plane.api.ask('PUT', `${base}/held`, put, { 'impersonate-user': 'poor' })
      const after: Stored = await team.get('held')
      t.equal(after.metadata.generation, 1, `${title}: the spec stays`)
      t.match(after.metadata.annotations, { 'commitlet.dev/requested-by': 'admin' }, title)
    }
  })
})
