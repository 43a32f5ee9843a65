import { spawnSync } from 'node:child_process'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'
import { crdFiles } from '../../manifests/crd.ts'
import { generate } from '../../manifests/generate.ts'

const MANIFESTS = new URL('../../manifests/', import.meta.url)

function runGenerate(...args: string[]) {
  const script = new URL('generate.ts', MANIFESTS).pathname
  return spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
}

t.test('the files in manifests/crds are those of the schemas', async (t) => {
  t.same(await generate(MANIFESTS, true), [], 'run "npm run generate"')
  t.equal(runGenerate('--check').status, 0)
})

t.test('a stale or missing file is reported, and written on request', async (t) => {
  const folder = t.testdir({ crds: {}, monitoring: {} })
  const url = pathToFileURL(`${folder}/`)
  const paths = ['crds/gitcommits.yaml', 'crds/pullrequests.yaml', 'monitoring/dashboard.json']
  t.same(await generate(url, true), paths)
  t.same(await generate(url, false), paths)
  t.same(await generate(url, true), [])
  await writeFile(new URL('crds/gitcommits.yaml', url), '# by hand\n')
  t.same(await generate(url, true), ['crds/gitcommits.yaml'])
})

t.test('the command ends with 1 when a file is stale', async (t) => {
  const folder = t.testdir({ manifests: { crds: {}, monitoring: {} } })
  await mkdir(`${folder}/functions`)
  await cp(new URL('../functions/domain', MANIFESTS), `${folder}/functions/domain`, { recursive: true })
  for (const name of ['crd.ts', 'dashboard.ts', 'generate.ts'])
    await cp(new URL(name, MANIFESTS), `${folder}/manifests/${name}`)
  function run(...args: string[]) {
    return spawnSync(process.execPath, [`${folder}/manifests/generate.ts`, ...args], { encoding: 'utf8' })
  }
  const stale = run('--check')
  t.equal(stale.status, 1)
  t.match(stale.stdout, /^manifests\/crds\/gitcommits\.yaml is stale; run "npm run generate"$/m)
  t.equal(run().status, 0)
  t.equal(run('--check').status, 0)
  t.equal(
    await readFile(`${folder}/manifests/crds/gitcommits.yaml`, 'utf8'),
    crdFiles().get('crds/gitcommits.yaml'),
  )
})

function version(path: string) {
  const crd = parse(crdFiles().get(path)!)
  return { names: crd.spec.names, ...crd.spec.versions[0] }
}

t.test('kubectl shows the specified columns', async (t) => {
  const commits = version('crds/gitcommits.yaml')
  const pulls = version('crds/pullrequests.yaml')
  function columns(list: { name: string; priority?: number }[]): string[] {
    return list.map(({ name, priority }) => (priority === undefined ? name : `${name}*`))
  }
  const wide = ['Message*', 'Next attempt*', 'Observed*', 'Handled*']
  t.same(columns(commits.additionalPrinterColumns), ['Ready', 'Reason', 'Branch', 'Commit', 'Age', ...wide])
  t.same(columns(pulls.additionalPrinterColumns), [
    'Ready',
    'Reason',
    'Number',
    'State',
    'Age',
    'URL*',
    ...wide,
  ])
  t.same([commits.names.shortNames, pulls.names.shortNames], [['gcommit'], ['gpr']])
  for (const { names, selectableFields, subresources } of [commits, pulls]) {
    t.same(names.categories, ['commitlet'])
    t.same(selectableFields, [{ jsonPath: '.status.phase' }])
    t.same(subresources, { status: {} })
  }
  t.same(commits.schema.openAPIV3Schema.properties.status.default, {
    observedGeneration: -1,
    phase: 'Pending',
  })
})

t.test('our own schema keywords are not in the CRDs', async (t) => {
  for (const [path, text] of crdFiles()) {
    t.match(text, /^# Generated from /, path)
    t.notMatch(text, /expects:/, path)
  }
})
