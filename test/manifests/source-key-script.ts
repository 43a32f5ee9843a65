import { createSecretKey } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { Test } from 'tap'
import { stringify } from 'yaml'
import { sourceKeyOf } from '../../functions/arrival/source-key.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { hasKnative } from '../harness/knative-definitions.ts'
import { ROOT } from './read.ts'
import { readKey, runner } from './setup-scripts.ts'

const TRIGGERS = new URL('manifests/triggers', ROOT).pathname
const SOURCES = ['api-server-source', 'ping-source', 'referenced-objects']

/** manifests/setup/source-key.sh, on a cluster with all of manifests/ and a stamp key, and first without Knative. */
export async function trySourceKey(t: Test, plane: ControlPlane): Promise<void> {
  const run = await runner(t, plane)

  t.test('the source key is printed, and is that of the function', async (t) => {
    const { stdout } = await run('source-key.sh', '--print')
    t.equal(stdout, `${sourceKeyOf(createSecretKey(await readKey(plane), 'base64'))}\n`)
    t.match((await run('source-key.sh')).stderr, 'install Knative Eventing, or ask')
  })

  t.test('it is entered in the sources that there are, and stays when they are applied again', async (t) => {
    if (!(await hasKnative(t, plane))) return
    t.match((await run('source-key.sh')).stderr, 'there is no source of Commitlet in commitlet-system; add a')
    const folder = t.testdir({})
    const components = SOURCES.map((name) => join(relative(folder, TRIGGERS), name))
    await writeFile(join(folder, 'kustomization.yaml'), stringify({ components }))
    await plane.kubectl(['apply', '-k', folder])
    t.match(await run('source-key.sh'), { code: 0, stderr: '' })
    await plane.kubectl(['apply', '-k', folder])
    const { stdout } = await plane.kubectl([
      ...['get', 'apiserversources,pingsources', '-n', 'commitlet-system'],
      ...['-o', 'jsonpath={.items[*].spec.ceOverrides.extensions.sourcekey}'],
    ])
    const key = sourceKeyOf(createSecretKey(await readKey(plane), 'base64'))
    t.equal(stdout, SOURCES.map(() => key).join(' '))
    await plane.kubectl(['delete', '-k', folder])
  })
}
