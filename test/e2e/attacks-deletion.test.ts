import t from 'tap'
import { openAs } from '../cluster/stage.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Stored } from '../harness/installation.ts'
import { grant, RULES, until } from '../harness/rights.ts'

/** Values that a sender may write as the deletion time. */
const TIMES = [null, '', '0001-01-01T00:00:00Z', 5, 'x', '2030-01-01T00:00:00Z'] as const
const FORGED = {
  'commitlet.dev/requested-by': 'admin',
  'commitlet.dev/requester': '{"username":"admin","groups":["system:masters"]}',
}
const TYPES = { apply: 'application/apply-patch+yaml', json: 'application/json-patch+json' } as const

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane)
  const poor = openAs(await plane.kubeconfigFor({ name: 'poor' }))

  t.test('a resource that only pretends to be deleted is judged and stamped as any other', async (t) => {
    const team = await commitlet.createTeam()
    await team.apply(configMap(), ...grant('poor', 'poor', [RULES.gitCommits]))
    const held = { name: 'held', finalizers: ['test.example.com/held'] }
    await team.apply({ ...gitCommit('held', 'https://git.example.com/acme/config'), metadata: held })
    const question = ['auth', 'can-i', 'create', 'gitcommits.commitlet.dev', '--as=poor']
    await until('right', () => team.kubectl(question, { allowFailure: true }), /^yes/)
    const base = `/apis/commitlet.dev/v1/namespaces/${team.namespace}/gitcommits`

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
      const { stdout } = await team.kubectl(['get', 'gitcommits', '-o', 'name'])
      t.notMatch(stdout, name, `${title}: it names what the user may not read, so it is not stored`)

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
      const replace = ['replace', '--raw', `${base}/held`, '-f', '-', '--as=poor']
      await plane.kubectl(replace, { input: JSON.stringify(put), allowFailure: true })
      const after: Stored = await team.get('held')
      t.equal(after.metadata.generation, 1, `${title}: the spec stays`)
      t.match(after.metadata.annotations, { 'commitlet.dev/requested-by': 'admin' }, title)
    }
  })
})
