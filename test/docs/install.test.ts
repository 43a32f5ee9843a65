import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parseDocument } from 'yaml'
import { ROOT } from '../manifests/read.ts'
import { blocksOf } from './blocks.ts'

const run = promisify(execFile)
const PAGE = 'docs/install.md'

t.test('what the page adds to the kustomization fits together, in whatever order it is added', async (t) => {
  const folder = t.testdir({ 'commitlet-install': {} })
  const [clone, file] = [join(folder, 'commitlet'), join(folder, 'commitlet-install/kustomization.yaml')]
  await mkdir(clone)
  for (const path of ['manifests', 'overlays', 'knative.yaml'])
    await cp(new URL(path, ROOT), join(clone, path), { recursive: true })
  const commands = (await blocksOf(PAGE, 'sh')).join('')
  const [, first = ''] = /^(mkdir -p \.\.\/commitlet-install\n[^]*?^END\n)/m.exec(commands) ?? []
  const added = commands.match(/^.*>>\.\.\/commitlet-install\/kustomization\.yaml.*$/gm) ?? []
  t.equal(added.length, 2, 'the function, with Knative and without it')
  const components = (await blocksOf(PAGE, 'yaml')).flatMap((code) => {
    const [, list = ''] = /^components:\n((?: {2}- \.\.\/commitlet\/.*\n)+)$/m.exec(code) ?? []
    return list.split('\n').filter((line) => line !== '')
  })
  t.equal(new Set(components).size, 3, components.join())
  for (const lines of [added, added.toReversed()]) {
    const env = { ...process.env, IMAGE: 'registry.example.org/acme/commitlet' }
    await run('sh', ['-ec', first], { cwd: clone, env })
    const list = ['components:', ...new Set(components), 'resources:'].join('\n')
    await writeFile(file, (await readFile(file, 'utf8')).replace(/^resources:/m, list))
    await run('sh', ['-ec', lines.join('\n')], { cwd: clone, env })
    const kustomization = parseDocument(await readFile(file, 'utf8'))
    t.strictSame(kustomization.errors, [])
    t.equal(kustomization.toJS().resources.length, 3)
    // Only one of both functions: they have the same name.
    kustomization.deleteIn(['resources', 2])
    await writeFile(file, kustomization.toString())
    const { stdout } = await run('kubectl', ['kustomize', join(folder, 'commitlet-install')])
    t.match(stdout, 'name: commitlet-function')
    t.match(stdout, 'name: TLS_SECRET', 'overlays/own-certificate')
    t.notMatch(stdout, /runAsUser/, 'overlays/openshift')
    t.notMatch(stdout, /^ {4}commitlet\.dev\/aggregate-to-reader:/m, 'overlays/configmaps-per-namespace')
  }
})

t.test('a user of your own is that of all pods, with Knative and without it', async (t) => {
  const [patches = ''] = await blocksOf(PAGE, 'yaml', '## A user of your own')
  const [own] = new Set(patches.match(/(?<=value: )\d+/g))
  const folder = t.testdir({})
  const root = relative(folder, ROOT.pathname)
  for (const function_ of ['overlays/knative', 'overlays/without-knative']) {
    const resources = ['manifests', function_].map((path) => `  - ${root}/${path}\n`).join('')
    await writeFile(join(folder, 'kustomization.yaml'), `${patches}resources:\n${resources}`)
    const { stdout } = await run('kubectl', ['kustomize', folder])
    const users = [...stdout.matchAll(/\b(runAsUser|runAsGroup|fsGroup): (\d+)$/gm)]
    t.strictSame(users.map(([, field]) => field).sort(), [
      'fsGroup',
      ...['runAsGroup', 'runAsGroup', 'runAsUser', 'runAsUser'],
    ])
    for (const [, field, user] of users) t.equal(user, own, `${function_}: ${field}`)
  }
})
