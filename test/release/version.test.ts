import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import t from 'tap'
import { parse } from 'yaml'
import { setVersion } from '../../manifests/version.ts'

const ROOT = new URL('../../', import.meta.url)
const text = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')
const { version, description, license } = JSON.parse(text('package.json')) as Record<string, string>

t.test('every file names the version of package.json', async (t) => {
  t.strictSame(setVersion(ROOT, true), [], 'run "npm run set-version"')
  const lock = JSON.parse(text('package-lock.json'))
  t.same([lock.version, lock.packages[''].version], [version, version])
  if (!existsSync(new URL('charts/commitlet/Chart.yaml', ROOT))) return
  const chart = parse(text('charts/commitlet/Chart.yaml'))
  t.match(chart, { version, appVersion: version }, 'run "npm run generate"')
})

t.test('the labels of the image say what package.json says', async (t) => {
  const [, labels = ''] = /^LABEL ((?:.*\\\n)*.*)$/m.exec(text('Dockerfile')) ?? []
  const pairs = [...labels.matchAll(/org\.opencontainers\.image\.(\w+)=(?:"([^"]*)"|(\S+))/g)]
  t.same(Object.fromEntries(pairs.map(([, key, quoted, plain]) => [key, quoted ?? plain])), {
    title: 'Commitlet',
    description,
    licenses: license,
    version,
  })
})

t.test('a new version is written everywhere, and nothing is left of the old one', async (t) => {
  const folder = t.testdir({})
  const paths = ['Dockerfile', 'README.md', 'knative.yaml', 'docs', 'manifests', 'overlays', 'package.json']
  for (const path of paths) cpSync(new URL(path, ROOT), join(folder, path), { recursive: true })
  const json = join(folder, 'package.json')
  writeFileSync(json, readFileSync(json, 'utf8').replace(`"${version}"`, '"98.7.6-rc.1"'))
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(folder, 'manifests/version.ts'), ...args], { encoding: 'utf8' })

  const stale = run('--check')
  t.equal(stale.status, 1)
  t.match(stale.stdout, /^knative\.yaml names another version; run "npm run set-version"$/m)
  const written = run()
  t.equal(written.status, 0)
  for (const path of ['Dockerfile', 'README.md', 'docs/install.md', 'manifests/webhook.yaml', 'knative.yaml'])
    t.match(written.stdout, `${path} written\n`)
  t.same(setVersion(pathToFileURL(`${folder}/`), true), [])
  const old = new RegExp(`(?<![\\w.])${version?.replaceAll('.', '\\.')}(?![\\w.]*\\w)`)
  for (const file of globSync('{Dockerfile,*.{md,yaml},{docs,manifests,overlays}/**/*.{md,yaml}}', {
    cwd: folder,
  }))
    t.notMatch(readFileSync(join(folder, file), 'utf8'), old, file)
})
