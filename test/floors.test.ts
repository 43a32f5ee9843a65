import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '..')
const SOURCES = globSync(['functions/**/*.ts', 'webhook/**/*.ts'], { cwd: ROOT }).sort()

/** What each folder may import of the project, beside itself. */
const BELOW: Readonly<Record<string, readonly string[]>> = {
  functions: [
    'functions/cluster',
    'functions/git',
    'functions/http',
    'functions/providers',
    'functions/domain',
  ],
  'functions/cluster': ['functions/domain'],
  'functions/git': ['functions/net', 'functions/domain'],
  'functions/http': ['functions/net', 'functions/domain'],
  'functions/providers': ['functions/domain'],
  'functions/net': ['functions/domain'],
  'functions/domain': [],
  webhook: ['functions/cluster', 'functions/domain'],
}

/** Where each package may be used. Node's own modules and `import type` are free, but for domain/. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  '@kubernetes/client-node': /^functions\/cluster\//,
  'simple-git': /^functions\/git\//,
  fastify: /^(functions|webhook)\/app\.ts$/,
  pino: /^(functions|webhook)\/main\.ts$/,
  ajv: /^functions\/domain\//,
  ssh2: /^functions\/(domain|git)\//,
  undici: /^functions\/http\//,
  '@octokit/rest': /^functions\/providers\//,
  '@gitbeaker/rest': /^functions\/providers\//,
}

/** Pure computation only: no clock, no network, no files, no environment. */
const PURE_MODULES = ['node:crypto', 'node:buffer', 'node:util', 'node:net']

interface Import {
  readonly file: string
  readonly target: string
  readonly typeOnly: boolean
}

function importsOf(file: string): readonly Import[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  const found = text.matchAll(/^(?:import|export)\s+(type\s)?[^'"]*?from\s+'([^']+)'|import\('([^']+)'\)/gm)
  return [...found].map((match) => ({
    file,
    typeOnly: match[1] !== undefined,
    target: match[2] ?? match[3] ?? '',
  }))
}

const IMPORTS = SOURCES.flatMap(importsOf)

function isAllowed({ file, target, typeOnly }: Import): boolean {
  const folder = dirname(file)
  if (target.startsWith('.')) {
    const place = dirname(relative(ROOT, join(ROOT, folder, target)))
    return place === folder || (BELOW[folder]?.includes(place) ?? false)
  }
  if (target.startsWith('node:')) return folder !== 'functions/domain' || PURE_MODULES.includes(target)
  if (typeOnly && folder !== 'functions/domain') return true
  return Object.entries(PACKAGES).some(
    ([name, place]) => target.split('/')[0] === name.split('/')[0] && place.test(file),
  )
}

t.test('imports go down, never up and never sideways between adapters', async (t) => {
  t.ok(SOURCES.length > 30, 'the sources are found')
  t.ok(IMPORTS.length > 100, 'their imports are found')
  for (const found of IMPORTS) {
    if (!isAllowed(found)) t.fail(`${found.file} imports ${found.target}`)
  }
})

t.test('domain/ has no clock, no environment and no randomness', async (t) => {
  for (const file of SOURCES.filter((source) => source.startsWith('functions/domain/'))) {
    const text = readFileSync(join(ROOT, file), 'utf8')
    t.notMatch(text, /Date\.now\(|new Date\(\)|process\.|Math\.random|randomUUID|setTimeout|fetch\(/, file)
  }
})

t.test('nothing runs at import: only main.ts files call anything at their top', async (t) => {
  for (const file of SOURCES.filter((source) => !source.endsWith('/main.ts'))) {
    const text = readFileSync(join(ROOT, file), 'utf8')
    t.notMatch(text, /^(?:await |void )?[a-zA-Z.]+\(/m, file)
  }
})

t.test('ssh2 is loaded when it is first needed, and by no start', async (t) => {
  const files = IMPORTS.filter(({ target, typeOnly }) => target === 'ssh2' && !typeOnly).map(
    ({ file }) => file,
  )
  t.same(files, ['functions/git/ssh/connection.ts'])
  for (const file of files) t.notMatch(readFileSync(join(ROOT, file), 'utf8'), /^import (?!type\b).*'ssh2'/m)
})

t.test(
  'the clients of GitHub and GitLab are loaded when they are first needed, and by no start',
  async (t) => {
    const eager = new Set<string>()
    const visit = (file: string): void => {
      if (eager.has(file)) return
      eager.add(file)
      const text = readFileSync(join(ROOT, file), 'utf8')
      for (const [, target = ''] of text.matchAll(
        /^(?:import|export)\s+(?!type\b)[^'"]*?from\s+'(\.[^']+)'/gm,
      ))
        visit(join(dirname(file), target))
    }
    for (const start of ['functions/main.ts', 'webhook/main.ts']) visit(start)
    t.ok(eager.has('functions/pull-request/provider-apis.ts'), 'the way to them is found')
    t.same(
      [...eager].filter((file) => file.startsWith('functions/providers/')),
      [],
    )
    const users = IMPORTS.filter(
      ({ target, typeOnly }) => /^@(octokit|gitbeaker)\//.test(target) && !typeOnly,
    )
    t.ok(users.length > 0, 'their users are found')
    for (const { file } of users) t.match(file, /^functions\/providers\//)
  },
)
