import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
/** What is written here by tools, and what belongs to nobody else. */
const LEFT = ['.git', '.tap', 'bench', 'coverage', 'dist', 'node_modules']
/** What a build and careless people leave behind, in a clone of the project. */
const BUILT = ['dist/commitlet.1', 'dist/commitlet.cjs', 'dist/function.cjs', 'dist/webhook.cjs']
const STRAY = [
  'dist/function.cjs.v24.0.0.cache',
  '.env',
  'client.key',
  'stamp.key',
  'manifests/setup/tls.key',
  'manifests/monitoring/notes.txt',
]

interface Packed {
  readonly filename: string
  readonly files: readonly { readonly path: string; readonly mode: number }[]
}

const folder = t.testdir({})
for (const name of readdirSync(ROOT).filter((name) => !LEFT.includes(name)))
  cpSync(join(ROOT, name), join(folder, name), { recursive: true })
for (const path of [...BUILT, ...STRAY]) {
  mkdirSync(join(folder, dirname(path)), { recursive: true })
  writeFileSync(join(folder, path), '')
}
const args = ['pack', '--dry-run', '--json', '--ignore-scripts']
const [packed] = JSON.parse(execFileSync('npm', args, { cwd: folder, encoding: 'utf8' })) as [Packed]
const paths = packed.files.map(({ path }) => path)

t.test('the package has both programs, what installs them, and the documentation', async (t) => {
  const needed = [
    ...BUILT,
    'boot.cjs',
    'package.json',
    'LICENSE',
    'README.md',
    'CHANGELOG.md',
    'knative.yaml',
    'docs/install.md',
    'examples/0-rights.yaml',
    'manifests/kustomization.yaml',
    'manifests/crds/gitcommits.yaml',
    'manifests/setup/stamp-key.sh',
    'overlays/without-knative/kustomization.yaml',
  ]
  for (const path of needed) t.ok(paths.includes(path), path)
  const script = packed.files.find(({ path }) => path === 'manifests/setup/stamp-key.sh')
  t.equal((script?.mode ?? 0) & 0o111, 0o111, 'a script can be run')
})

t.test('no sources, tests, settings of tools or keys are in it', async (t) => {
  for (const path of STRAY) t.notOk(paths.includes(path), path)
  for (const path of paths)
    t.notMatch(path, /\.(ts|key|pem|cache|tgz)$|^\.|^(functions|webhook|test|demo|bench|node_modules)\//)
})

t.test('every file that a kustomization names is in it', async (t) => {
  const named = paths
    .filter((path) => basename(path) === 'kustomization.yaml')
    .flatMap((path) => {
      const text = readFileSync(join(folder, path), 'utf8')
      return [...text.matchAll(/^ *- (?:path: )?([\w./-]+\.(?:yaml|json))$/gm)].map(([, file = '']) =>
        join(dirname(path), file),
      )
    })
  t.ok(named.length > 20, `${named.length} files`)
  for (const path of named) t.ok(paths.includes(path), path)
})
