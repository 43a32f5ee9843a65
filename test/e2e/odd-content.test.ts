import { readFile } from 'node:fs/promises'
import fc from '../harness/fast-check.ts'
import t from 'tap'
import { connectCluster } from '../../functions/cluster/connect.ts'
import { parseJSONText } from '../../functions/domain/manifest/json-text.ts'
import { isMapping, type JSONNode } from '../../functions/domain/manifest/json-node.ts'
import { definition, openAs } from '../cluster/stage.ts'
import { compactJSON, nastyNode } from '../domain/fixtures/nasty.ts'
import { AMBIGUOUS, CONTROLS, LINES, SYNTAX } from '../domain/fixtures/traps.ts'
import { expected, hasPyYAML, readByPackage, readByPyYAML } from '../domain/fixtures/yaml-readers.ts'
import { extendReader } from '../harness/accounts.ts'
import { readyFor, readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { serveKind } from '../harness/kinds.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Team } from '../harness/installation.ts'

const REFERENCE = { apiVersion: 'test.example.com/v1', kind: 'Octopus', name: 'ollie', path: 'it.yaml' }
/** What an attempt may need in addition: the response (0.3 MiB), 10 MiB of output, and slack of the collector. */
const MEMORY_KIB = 96 * 1024

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane)
  const cluster = connectCluster(openAs(plane.kubeconfig))
  await serveKind(plane, definition('octopodes', 'Octopus', 'Namespaced'))
  await extendReader(plane, 'test.example.com', 'octopodes')

  /** Commits a custom resource with this spec, given as JSON. */
  async function commit(team: Team, spec: string) {
    const repository = await commitlet.git.createRepository(team.namespace)
    const { apiVersion, kind, name } = REFERENCE
    const input = `{"apiVersion":"${apiVersion}","kind":"${kind}","metadata":{"name":"${name}"},"spec":${spec}}`
    await team.kubectl(['create', '-f', '-'], { input })
    await team.apply(gitCommit('shop', repository.url, { resourceRef: REFERENCE }))
    return { stored: await team.settled('shop'), repository }
  }

  t.test('every string that a reader could take for something else is read as the same object', async (t) => {
    const team = await commitlet.createTeam()
    const traps = [...AMBIGUOUS, ...SYNTAX, ...CONTROLS, ...LINES]
    const generated = fc.sample(nastyNode, { numRuns: 150, seed: 20300101 })
    const spec = `{"keys":[${traps.map((trap) => `{${JSON.stringify(trap)}:1}`).join()}],
        "texts":${JSON.stringify(traps)},"generated":[${generated.map(compactJSON).join()}]}`
    const { stored, repository } = await commit(team, spec)
    t.match(stored.status, { phase: 'Succeeded' })
    const served = { plural: 'octopodes', namespaced: true }
    const live = await cluster.readObject({ ...REFERENCE, namespace: team.namespace }, served)
    const wanted = JSON.stringify(expected(specOf(parseJSONText(live, 'The object'))))
    t.ok(wanted.length > 50_000, `${wanted.length} characters of traps`)
    const text = await repository.show('main:it.yaml')
    const { members } = readByPackage(text, '1.2') as { members: readonly (readonly [string, unknown])[] }
    t.ok(JSON.stringify(members.find(([key]) => key === 'sspec')?.[1]) === wanted, 'the package yaml')
    if (!hasPyYAML()) return t.pass('PyYAML', { skip: 'PyYAML is not here.' })
    for (const read of readByPyYAML([text])[0] ?? []) {
      const found = (read as { members: readonly (readonly [string, unknown])[] }).members
      t.ok(JSON.stringify(found.find(([key]) => key === 'sspec')?.[1]) === wanted, 'PyYAML')
    }
  })

  t.test('what hooks print of earlier commits and of files takes nobody elsewhere', async (t) => {
    const team = await commitlet.createTeam()
    const moved = 'This repository has moved to https://git.example.com/other/shop'
    const hooks = { 'pre-receive': 'git log -5 --format=%s main; git show main:notice 2>/dev/null; exit 0' }
    const { url } = await commitlet.git.createRepository(team.namespace, { hooks })
    const said = { files: [{ path: 'notice', content: moved }] }
    for (const spec of [{ message: moved }, { ...said, resourceRef: undefined }]) {
      const args = ['create', '-f', '-']
      const input = JSON.stringify(gitCommit('moved', url, spec))
      const { code, stderr } = await team.kubectl(args, { input, allowFailure: true })
      t.not(code, 0)
      t.match(stderr, /has a line that says that a repository has moved/)
    }
    const data = { notice: `Read this:\n${moved}\n` }
    await team.apply({ ...configMap(data), metadata: { name: 'notice' } })
    const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'notice', field: '.data.notice' }
    const files = [{ path: 'notice', resourceRef }]
    await team.apply(gitCommit('notice', url, { resourceRef: undefined, files }))
    t.match(readyOf(await readyFor(team, 'notice', 'NotSupported')), { message: /has a line that says/ })
    await team.apply(configMap())
    for (const name of ['one', 'two']) {
      await team.apply(gitCommit(name, url))
      t.match(readyOf(await team.settled(name)), { status: 'True' })
    }
  })

  t.test('more than 10 MiB of output is refused, with the memory bounded', async (t) => {
    const team = await commitlet.createTeam()
    const before = await peak(commitlet.function.pid)
    const numbers = new Array(90_000).fill(1).join()
    const deep = `${'{"a":'.repeat(900)}[${numbers}]${'}'.repeat(900)}`
    const { stored, repository } = await commit(team, deep)
    t.match(stored.status, { phase: 'Failed', attempts: 1 })
    t.match(readyOf(stored), {
      reason: 'NotSupported',
      message: `Octopus ${team.namespace}/ollie takes more than 10 MiB as a file, which is the limit; refer to a smaller object.`,
    })
    t.same(await repository.log(), ['Begin'])
    const grown = (await peak(commitlet.function.pid)) - before
    t.comment(`The peak grew by ${grown} KiB.`)
    t.ok(grown < MEMORY_KIB, 'the whole would take 160 MiB')
  })
})

/** The peak memory of the process, in KiB. */
async function peak(pid: number): Promise<number> {
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1])
}

function specOf(object: JSONNode): JSONNode {
  const spec = isMapping(object) ? object.get('spec') : undefined
  if (spec === undefined) throw new Error('The object has no spec.')
  return spec
}
