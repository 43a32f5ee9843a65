import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parseAllDocuments } from 'yaml'

const ROOT = join(import.meta.dirname, '../..')
const PAGE = readFileSync(join(ROOT, 'docs/getting-started.md'), 'utf8')
const run = promisify(execFile)

const COMMANDS = [...PAGE.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, commands]) => commands ?? '').join('')

t.test('every file and folder that the commands name is there', async (t) => {
  const named = COMMANDS.match(/(?<![\w./-])(?:manifests|overlays|examples)[\w./-]*/g) ?? []
  t.ok(named.length > 5, named.join(' '))
  for (const path of named) t.ok(existsSync(join(ROOT, path)), path)
})

t.test(
  'the kustomization installs both parts with the image of the registry, also for Knative',
  async (t) => {
    const folder = t.testdir({})
    await mkdir(join(folder, 'clone'))
    for (const path of ['manifests', 'overlays'])
      await cp(join(ROOT, path), join(folder, 'clone', path), { recursive: true })
    const [, script = ''] = /^(mkdir -p \.\.\/commitlet-install\n[^]*?^END\n)/m.exec(COMMANDS) ?? []
    for (const overlay of ['without-knative', 'knative']) {
      const env = { ...process.env, IMAGE: 'registry.example.org/acme/commitlet' }
      const written = script.replace('overlays/without-knative', `overlays/${overlay}`)
      await run('sh', ['-c', written], { cwd: join(folder, 'clone'), env })
      const { stdout } = await run('kubectl', ['kustomize', join(folder, 'commitlet-install')])
      const images = stdout.match(/image: .*$/gm) ?? []
      t.strictSame([...new Set(images)], ['image: registry.example.org/acme/commitlet:0.1.0'], overlay)
      const kinds = parseAllDocuments(stdout).map(
        (one) => `${String(one.get('kind'))} ${String(one.getIn(['metadata', 'name']))}`,
      )
      t.ok(kinds.includes('Deployment commitlet-webhook'), overlay)
      const kind = overlay === 'knative' ? 'Service' : 'Deployment'
      t.ok(kinds.includes(`${kind} commitlet-function`), overlay)
    }
  },
)
