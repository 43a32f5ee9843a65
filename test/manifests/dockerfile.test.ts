import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { IMAGE_MALLOC, V8_OPTIONS } from '../harness/programs.ts'
import { readManifest, ROOT } from './read.ts'

const text = (path: string): string => readFileSync(new URL(path, ROOT), 'utf8')
const lines = text('Dockerfile').split('\n')
const [[MALLOC_NAME, MALLOC_BYTES] = []] = Object.entries(IMAGE_MALLOC)
const MALLOC = `${MALLOC_NAME}=${MALLOC_BYTES}`
/** Where the build stage has the project. */
const WORKDIR = '/app/'

/** The arguments of this instruction, in each line that begins with it. */
function all(instruction: string): readonly string[] {
  const found = lines.filter((line) => line.startsWith(`${instruction} `))
  return found.map((line) => line.slice(instruction.length + 1))
}

/** A JSON list, as in ENTRYPOINT and CMD. */
function wordsOf(instruction: string): readonly string[] {
  return all(instruction).flatMap((list): string[] => JSON.parse(list))
}

const [service] = await readManifest('knative.yaml')
const deployment = (await readManifest('manifests/webhook.yaml')).at(-1)
const specs = [service.spec.template.spec, deployment.spec.template.spec]
const ignored = text('.dockerignore').split('\n')
const kept = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1))
const copied = all('COPY').map((line) => line.split(' '))
const built = ['dist', ...['function', 'webhook'].map((part) => `dist/${part}.cjs`)]

t.test('the image is built from files that are there', async (t) => {
  const sources = copied
    .filter(([first]) => first?.startsWith('--') !== true)
    .flatMap((words) => words.slice(0, -1))
  t.ok(sources.includes('package-lock.json'))
  for (const source of [...sources, ...kept]) t.ok(existsSync(join(ROOT.pathname, source)), source)
  for (const source of sources.filter((name) => name !== '.'))
    t.ok(kept.includes(source), `${source} is not ignored`)
})

t.test('each base is an argument, which docs/install.md pins by its digest', async (t) => {
  const defaults = all('ARG').map((argument) => argument.split('='))
  const bases = all('FROM').map((base) => /^\$\{(\w+)\}/.exec(base)?.[1])
  t.strictSame(
    bases,
    defaults.map(([name]) => name),
  )
  for (const [name, image] of defaults) {
    t.match(image, /^(node:24|debian:)-?bookworm-slim$/, 'both are of one release of Debian')
    t.match(text('docs/install.md'), `--build-arg ${name}=${image}@$`)
    t.match(text('docs/install.md'), `imagetools inspect --format '{{.Manifest.Digest}}' ${image}`)
  }
})

t.test('nothing goes into the build but what .dockerignore names', async (t) => {
  t.equal(
    ignored.find((line) => !line.startsWith('#')),
    '*',
  )
})

t.test('what build.ts imports goes into the build', async (t) => {
  const seen = new Set<string>()
  const visit = (file: string): void => {
    if (seen.has(file)) return
    seen.add(file)
    for (const [, one, other] of text(file).matchAll(/from '(\.[^']+)'|import\('(\.[^']+)'\)/g))
      visit(join(dirname(file), one ?? other ?? ''))
  }
  visit('build.ts')
  const tops = new Set([...seen].map((file) => file.split('/')[0] ?? ''))
  t.ok(tops.size > 2, `${seen.size} files`)
  for (const top of tops) t.ok(kept.includes(top), `${top} is not ignored`)
})

t.test('what the image takes from the build exists, or is written by build.ts', async (t) => {
  const taken = copied.filter(([first]) => first === '--from=build').flatMap((words) => words.slice(1, -1))
  const own = taken.filter((path) => path.startsWith(WORKDIR)).map((path) => path.slice(WORKDIR.length))
  t.same(own, ['LICENSE', 'boot.cjs', 'dist'])
  for (const path of own) t.ok(kept.includes(path) || built.includes(path), path)
})

t.test('the image and both manifests start what build.ts writes', async (t) => {
  t.match(text('build.ts'), /ENTRIES = {\n  function: .*\n  webhook: /)
  const started = [...wordsOf('CMD'), ...specs.flatMap(({ containers }) => containers[0].args)]
  t.same(started, ['dist/function.cjs', 'dist/function.cjs', 'dist/webhook.cjs'])
  for (const program of started) t.ok(built.includes(program), program)
  t.ok(kept.includes(wordsOf('ENTRYPOINT').at(-1) ?? ''), 'boot.cjs is in the build')
})

t.test('tests and benchmarks start both programs with the options of the image', async (t) => {
  const options = wordsOf('ENTRYPOINT').filter((word) => word.startsWith('--') && word !== '--')
  t.same(options, V8_OPTIONS)
})

t.test('the image’s user is the one of both manifests, by number', async (t) => {
  const [user, group] = (all('USER').at(-1) ?? '').split(':').map(Number)
  for (const { containers, securityContext } of specs) {
    const { runAsUser, runAsGroup } = { ...securityContext, ...containers[0].securityContext }
    t.same({ runAsUser, runAsGroup }, { runAsUser: user, runAsGroup: group })
  }
})

t.test('without Knative there are also threads for the lookups of all attempts', async (t) => {
  const { env } = service.spec.template.spec.containers[0]
  const threads = env.find(({ name }: { name: string }) => name === 'UV_THREADPOOL_SIZE')
  t.same(all('ENV'), [`UV_THREADPOOL_SIZE=${threads?.value}`, 'RES_OPTIONS=ndots:1', MALLOC])
})

t.test('what large answers came in is given back, and tests and benchmarks start it so', (t) => {
  t.ok(all('ENV').includes(MALLOC))
  t.end()
})

t.test('a host is looked up as it is written before it can be a Service of the cluster', (t) => {
  t.ok(all('ENV').includes('RES_OPTIONS=ndots:1'))
  t.end()
})

t.test('both manifests name one image, of this version', async (t) => {
  const { version } = JSON.parse(text('package.json')) as { version: string }
  for (const { containers } of specs)
    t.equal(containers[0].image, `registry.example.com/commitlet:${version}`)
})
