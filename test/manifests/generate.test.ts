import { spawnSync } from 'node:child_process'
import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import type { Test } from 'tap'
import { parse } from 'yaml'
import { crdFiles } from '../../manifests/crd.ts'
import { generate } from '../../manifests/generate.ts'

const PROJECT = new URL('../../', import.meta.url)
const MANIFESTS = new URL('manifests/', PROJECT)

function runGenerate(...args: string[]) {
  const script = new URL('generate.ts', MANIFESTS).pathname
  return spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' })
}

t.test('the files that are generated are those of their sources', async (t) => {
  t.same(await generate(PROJECT, true), [], 'run "npm run generate"')
  t.equal(runGenerate('--check').status, 0)
})

/** A copy of what the files are made from, with the files. */
async function copied(t: Test): Promise<string> {
  const folder = t.testdir({})
  for (const path of [
    'functions/domain',
    'manifests',
    'overlays',
    'charts',
    'docs',
    'knative.yaml',
    'package.json',
  ])
    await cp(new URL(path, PROJECT), `${folder}/${path}`, { recursive: true })
  return folder
}

t.test('a stale or missing file is reported, and written on request', async (t) => {
  const folder = await copied(t)
  const url = pathToFileURL(`${folder}/`)
  t.same(await generate(url, true), [])
  await rm(new URL('charts', url), { recursive: true })
  await writeFile(new URL('manifests/crds/gitcommits.yaml', url), '# by hand\n')
  const paths = await generate(url, true)
  t.equal(paths[0], 'manifests/crds/gitcommits.yaml')
  t.ok(paths.includes('charts/commitlet/templates/gitcommits.yaml'))
  t.same(await generate(url, false), paths)
  t.same(await generate(url, true), [])
  const knative = new URL('knative.yaml', url)
  await writeFile(knative, (await readFile(knative, 'utf8')).replace("min-scale: '0'", "min-scale: '1'"))
  await t.rejects(generate(url, true), { message: /knative\.yaml has nothing like .*min-scale/ })
})

t.test('the command ends with 1 when a file is stale', async (t) => {
  const folder = await copied(t)
  await symlink(new URL('node_modules', PROJECT).pathname, `${folder}/node_modules`)
  await writeFile(`${folder}/manifests/crds/gitcommits.yaml`, '')
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
  const wide = ['Next attempt*', 'Observed*', 'Handled*', 'Message*']
  t.same(columns(commits.additionalPrinterColumns), [
    'Ready',
    'Reason',
    'Branch',
    'Commit',
    'Age',
    'Repository*',
    'Interval*',
    ...wide,
  ])
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
  t.same(commits.selectableFields, [{ jsonPath: '.status.phase' }, { jsonPath: '.spec.sync' }])
  t.same(pulls.selectableFields, [{ jsonPath: '.status.phase' }])
  for (const { names, subresources } of [commits, pulls]) {
    t.same(names.categories, ['commitlet'])
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
