import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')
const GUIDE = read('docs/adding-a-provider.md')
/** What a developer writes, or chooses from. */
const TOLD = [
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

/** Whether the guide has this word as code, alone, as a member, or with what it is given. */
function tells(word: string): boolean {
  return new RegExp(`\`(?:\\w+\\.)?${word}(?:\\(.*\\))?\``).test(GUIDE)
}

t.test('the members of an interface are found', async (t) => {
  const source =
    'export interface A {\n  /** b: c */\n  readonly one: B\n  readonly two?: B\n  three(b: B): C\n}\n'
  t.strictSame(membersOf(source, 'A'), ['one', 'two', 'three'])
  t.strictSame(membersOf(source, 'B'), [])
})

for (const [file, name] of TOLD) {
  t.test(`the guide tells of all that ${name} has`, async (t) => {
    const members = membersOf(read(file), name)
    t.ok(members.length > 1, `${members.length} members`)
    t.strictSame(
      members.filter((member) => !tells(member)),
      [],
    )
  })
}

t.test('the guide tells what every maker of a Failure is for', async (t) => {
  const makers = [...read('functions/providers/api-failure.ts').matchAll(/^export function (\w+)/gm)]
  t.ok(makers.length > 5, `${makers.length} makers`)
  t.strictSame(
    makers.map(([, maker]) => maker ?? '').filter((maker) => !tells(maker)),
    [],
  )
})

t.test('every file that the guide names is there, as it is for GitHub or for Bitbucket', async (t) => {
  const files = [...GUIDE.matchAll(/\b(?:functions|test)\/[\w./-]+\.(?:ts|json|md)\b/g)].map(([file]) => file)
  t.ok(files.length > 20, `${files.length} files`)
  for (const file of new Set(files)) {
    const places = ['github', 'bitbucket'].map((name) => file.replace('NAME', name))
    t.ok(
      places.some((place) => existsSync(join(ROOT, place))),
      file,
    )
  }
})
