import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const GUIDE = read('docs/adding-a-provider.md')
/** The interfaces that a developer implements or fills in. */
const DESCRIBED = [
  ['functions/domain/repository/hosts.ts', 'Host'],
  ['functions/domain/pull-request/pull-requests.ts', 'PullRequests'],
  ['functions/domain/pull-request/pull-requests.ts', 'Endpoint'],
  ['test/harness/hosts/dialect.ts', 'Dialect'],
  ['test/harness/hosts/dialect.ts', 'LiteralAnswers'],
  ['test/harness/hosts/operations.ts', 'OperationRow'],
  ['test/providers/contract/traits.ts', 'Traits'],
] as const

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

/** The members of an interface that a source declares. */
function membersOf(source: string, name: string): readonly string[] {
  const [, body = ''] = new RegExp(`^export interface ${name} \\{\\n([^]*?)^\\}$`, 'm').exec(source) ?? []
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(<]/gm)].map(([, member]) => member ?? '')
}

/** Whether the guide has this word as code: alone, as a member, or with arguments. */
function mentions(word: string): boolean {
  return new RegExp(`\`(?:\\w+\\.)?${word}(?:\\(.*\\))?\``).test(GUIDE)
}

t.test('the members of an interface are found', async (t) => {
  const source =
    'export interface A {\n  /** b: c */\n  readonly one: B\n  readonly two?: B\n  three(b: B): C\n}\n'
  t.strictSame(membersOf(source, 'A'), ['one', 'two', 'three'])
  t.strictSame(membersOf(source, 'B'), [])
})

for (const [file, name] of DESCRIBED) {
  t.test(`the guide describes every member of ${name}`, async (t) => {
    const members = membersOf(read(file), name)
    t.ok(members.length > 1, `${members.length} members`)
    t.strictSame(
      members.filter((member) => !mentions(member)),
      [],
    )
  })
}

t.test('the guide describes every function that makes a Failure', async (t) => {
  const makers = [...read('functions/providers/api-failure.ts').matchAll(/^export function (\w+)/gm)]
  t.ok(makers.length > 5, `${makers.length} makers`)
  t.strictSame(
    makers.map(([, maker]) => maker ?? '').filter((maker) => !mentions(maker)),
    [],
  )
})

t.test('every file that the guide names exists, with GitHub or Bitbucket as NAME', async (t) => {
  const files = [...GUIDE.matchAll(/\b(?:functions|test)\/[\w./-]+\.(?:ts|json|md)\b/g)].map(([file]) => file)
  t.ok(files.length > 20, `${files.length} files`)
  for (const file of new Set(files)) {
    const paths = ['github', 'bitbucket'].map((name) => file.replace('NAME', name))
    t.ok(
      paths.some((path) => existsSync(join(ROOT, path))),
      file,
    )
  }
})
