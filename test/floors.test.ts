import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t from 'tap'
import { complaintsAbout, importsOf, type Sources } from './floors.ts'

const ROOT = join(import.meta.dirname, '..')
const FILES = globSync(['functions/**/*.ts', 'webhook/**/*.ts', 'cli/**/*.ts'], { cwd: ROOT }).sort()
const SOURCES: Sources = new Map(FILES.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')]))
const IMPORTS = importsOf(SOURCES)

t.test(
  'imports go down, never up, sideways between adapters or in a circle, and rooms stay small',
  async (t) => {
    t.ok(FILES.length > 150, 'the sources are found')
    t.ok(IMPORTS.length > 500, 'their imports are found')
    t.strictSame(complaintsAbout(SOURCES), [])
  },
)

/** Lines that break a rule when they are added to a source, and the message. */
const BROKEN: readonly (readonly [string, string, string, RegExp])[] = [
  ['up', 'functions/domain/failure.ts', "import { x } from '../git/git.ts'", /failure\.ts imports/],
  ['sideways', 'functions/cluster/cluster.ts', "import { x } from '../git/git.ts'", /cluster\.ts imports/],
  ['out of the webhook', 'webhook/app.ts', "import { x } from '../functions/git/git.ts'", /app\.ts imports/],
  [
    'from host to host',
    'functions/providers/github/index.ts',
    "import { x } from '../gitlab/index.ts'",
    /github\/index\.ts imports/,
  ],
  [
    'a circle of rooms',
    'functions/domain/resource/resource.ts',
    "import type { x } from '../schema/parse.ts'",
    /a circle: .*schema/,
  ],
  [
    'a circle of files',
    'functions/domain/failure.ts',
    "import type { x } from './field-error.ts'",
    /a circle: .*field-error/,
  ],
  ['a package elsewhere', 'functions/app.ts', "import { x } from 'undici'", /app\.ts imports undici/],
  ['a clock in domain/', 'functions/domain/failure.ts', "import { x } from 'node:timers'", /node:timers/],
]

for (const [what, file, line, said] of BROKEN) {
  t.test(`seen when broken: ${what}`, async (t) => {
    const text = SOURCES.get(file)
    t.ok(text, `${file} is there`)
    t.match(complaintsAbout(new Map([...SOURCES, [file, `${line}\n${text ?? ''}`]])).join('\n'), said)
  })
}

t.test('seen when broken: a room of too many or too few files, and a meaningless name', async (t) => {
  const more = Array.from({ length: 15 }, (_, index) => [`functions/login/part-${index}.ts`, ''] as const)
  t.match(complaintsAbout(new Map([...SOURCES, ...more])).join(), /functions\/login has \d+ files/)
  t.match(complaintsAbout(new Map([...SOURCES, ['functions/lonely/a.ts', '']])).join(), /lonely has 1 files/)
  t.match(complaintsAbout(new Map([...SOURCES, ['webhook/utils.ts', '']])).join(), /empty name/)
})

t.test('domain/ has no clock, no environment and no randomness', async (t) => {
  for (const [file, text] of SOURCES) {
    if (!file.startsWith('functions/domain/')) continue
    t.notMatch(text, /Date\.now\(|new Date\(\)|process\.|Math\.random|randomUUID|setTimeout|fetch\(/, file)
  }
})

t.test('nothing runs at import: only main.ts files call functions at the top level', async (t) => {
  for (const [file, text] of SOURCES) {
    if (!file.endsWith('/main.ts')) t.notMatch(text, /^(?:await |void )?[a-zA-Z.]+\(/m, file)
  }
})

/** What is loaded with a source. */
function loadedBy(...starts: readonly string[]): ReadonlySet<string> {
  const eager = new Set<string>()
  const visit = (file: string): void => {
    if (eager.has(file)) return
    eager.add(file)
    const found = (SOURCES.get(file) ?? '').matchAll(
      /^(?:import|export)\s+(?!type\b)[^'"]*?from\s+'(\.[^']+)'/gm,
    )
    for (const [, target = ''] of found) visit(join(dirname(file), target))
  }
  starts.forEach(visit)
  return eager
}

t.test('ssh2 is loaded in the threads for SSH servers, and by no start', async (t) => {
  const users = IMPORTS.filter(({ target, typeOnly }) => target === 'ssh2' && !typeOnly)
  t.strictSame(
    users.map(({ file }) => file),
    ['functions/git/ssh-worker/connection.ts'],
  )
  const eager = loadedBy('functions/main.ts', 'webhook/main.ts')
  t.ok(eager.has('functions/git/ssh/threads/worker-thread.ts'), 'the way to them is found')
  for (const { file } of users) t.notOk(eager.has(file), file)
  t.ok(loadedBy('functions/git/ssh-worker/main.ts').size < 40, 'a thread loads little of the rest')
})

t.test(
  'the clients of GitHub and GitLab are loaded when they are first needed, and by no start',
  async (t) => {
    const eager = loadedBy('functions/main.ts', 'webhook/main.ts')
    t.ok(eager.has('functions/pull-request/provider-apis.ts'), 'the way to them is found')
    t.strictSame(
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

t.test('what sends traces is loaded when they are sent, and by no start', async (t) => {
  const eager = loadedBy('functions/main.ts', 'webhook/main.ts')
  t.ok(eager.has('functions/telemetry/traces.ts'), 'the way to it is found')
  for (const file of ['collector', 'span-queue', 'otlp'])
    t.notOk(eager.has(`functions/telemetry/${file}.ts`), file)
})

t.test('a spec is parsed at the two borders alone, and an address by the parser of specs', async (t) => {
  const users = (name: string): readonly string[] => {
    const imported = new RegExp(
      `^import \\{[^}]*\\b${name}\\b[^}]*\\} from '[^']*/(?:parse|address|written-address)\\.ts'`,
      'm',
    )
    return FILES.filter((file) => imported.test(SOURCES.get(file) ?? ''))
  }
  t.strictSame(users('parse'), [
    'cli/local/resource.ts',
    'functions/attempt/attempt.ts',
    'functions/attempt/claim.ts',
    'functions/attempt/due.ts',
    'webhook/admission/judgement.ts',
  ])
  t.strictSame(users('readWrittenAddress'), ['functions/domain/schema/parse.ts'])
  t.strictSame(users('parseRepositoryAddress'), [
    // A host that nobody has, for what a Secret is good for.
    'cli/check/secret-steps.ts',
    'functions/domain/pull-request/renamed-repository.ts',
    'functions/domain/repository/written-address.ts',
    // The new address of a repository that has moved, for a message.
    'functions/git/output/moved.ts',
  ])
})
