import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { parseRepositoryAddress } from '../../functions/domain/repository/address.ts'
import { allows } from '../../functions/domain/repository/allowed-repositories.ts'
import { isFailureReason } from '../../functions/domain/reasons.ts'
import { judge } from '../domain/fixtures/parsed.ts'
import { HOSTS } from '../../functions/domain/repository/hosts.ts'
import { member, textMember } from '../../functions/domain/json-value.ts'
import { ALLOWED_REPOSITORIES } from '../../functions/domain/resource/api-names.ts'
import { PULLREQUEST_SPEC } from '../../functions/domain/crd/pull-request.ts'
import { reviewContext } from '../domain/fixtures/review-context.ts'

const ROOT = join(import.meta.dirname, '../..')
const EXAMPLES = join(ROOT, 'examples/pull-requests')
const page = readFileSync(join(ROOT, 'docs/pull-requests.md'), 'utf8')
const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
const files = new Map(
  readdirSync(EXAMPLES).map((file) => [file, readFileSync(join(EXAMPLES, file), 'utf8')] as const),
)
const blocks = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text]) => text ?? '')

/** The cells of the tables below a heading, row by row, without their heads. */
function rowsBelow(heading: string): readonly (readonly string[])[] {
  const [, below = ''] = page.split(`\n${heading}\n`)
  const [section = ''] = below.split('\n## ')
  const rows = [...section.matchAll(/^\| (.+) \|$/gm)].map(([, row = '']) => row.split(' | '))
  return rows.filter((_, index) => index > 0)
}

function objectsIn(text: string): readonly unknown[] {
  return parseAllDocuments(text).map((document): unknown => document.toJS())
}

function namesIn(cell: string | undefined): readonly string[] {
  return [...(cell ?? '').matchAll(/`([A-Za-z]+)`/g)].map(([, name]) => name ?? '')
}

t.test('each YAML of the page is a file, and each file is on the page, word for word', async (t) => {
  t.ok(files.size > 5)
  t.strictSame(blocks.toSorted(), [...files.values()].toSorted())
})

t.test('each file says for whom it is, and holds nothing that could be taken for a secret', async (t) => {
  for (const [file, text] of files) {
    t.match(text, /^# For a developer\. /, file)
    t.notMatch(text, /BEGIN [A-Z ]*PRIVATE KEY|gh[pso]_|github_pat_|glpat-|ATATT|ATCTT/, file)
  }
})

t.test('no object of one file is one of another', async (t) => {
  const named = [...files.values()].flatMap((text) => {
    const objects = objectsIn(text)
    return objects.map(
      (object) => `${textMember(object, 'kind')} ${textMember(member(object, 'metadata'), 'name')}`,
    )
  })
  t.strictSame(named.toSorted(), [...new Set(named)].toSorted())
})

t.test('each Secret names the repositories that it may go to, and how it is applied', async (t) => {
  for (const [file, text] of files) {
    if (!text.includes('kind: Secret')) continue
    t.match(text, /^# Apply it with `kubectl apply --server-side`; otherwise kubectl also stores /m, file)
    const [secret, ...others] = objectsIn(text)
    const list = textMember(member(member(secret, 'metadata'), 'annotations'), ALLOWED_REPOSITORIES) ?? ''
    for (const object of others) {
      const repository = textMember(member(object, 'spec'), 'repository') ?? ''
      t.ok(allows(list, parseRepositoryAddress(repository)), `${file} ${list}`)
    }
  }
})

const [, first = ''] = /^## A first PullRequest\n+```yaml\n([^]*?)^```$/m.exec(readme) ?? []

for (const [file, text] of [...files, ['README.md', first] as const]) {
  t.test(`${file} is what the gate lets through`, async (t) => {
    const objects = objectsIn(text)
    const ours = objects.filter((object) => member(object, 'apiVersion') === 'commitlet.dev/v1')
    t.ok(ours.some((object) => member(object, 'kind') === 'PullRequest'))
    for (const object of ours) {
      const { fieldErrors, warnings } = await judge(object, reviewContext())
      t.strictSame([...fieldErrors, ...warnings], [])
    }
  })
}

t.test('the fields are those of the schema', async (t) => {
  const rows = rowsBelow('## Fields')
  const named = rows.flatMap(([field]) => namesIn(field))
  t.strictSame(named.toSorted(), Object.keys(PULLREQUEST_SPEC.properties ?? {}).toSorted())
  const required = rows.filter(([, how]) => how?.startsWith('required') === true)
  t.strictSame(
    required.flatMap(([field]) => namesIn(field)).toSorted(),
    PULLREQUEST_SPEC.required?.toSorted(),
  )
})

t.test('the table shows what each host supports', async (t) => {
  const [heads = []] = [...page.matchAll(/^\| (\| GitHub .+) \|$/gm)].map(([, row = '']) => row.split(' | '))
  const names = heads.map((head) => head.replace('|', '').trim().toLowerCase())
  t.strictSame(names.toSorted(), HOSTS.map(({ name }) => name).toSorted())
  const rows = rowsBelow('## Labels, reviewers, assignees, drafts').filter(([, first = '']) =>
    ['yes', 'no'].includes(first),
  )
  for (const { name, lacks, forks } of HOSTS) {
    const shown = rows.map((row) => [namesIn(row[0])[0], row[names.indexOf(name) + 1]])
    const has = (detail: (typeof lacks)[number]): string => (lacks.includes(detail) ? 'no' : 'yes')
    t.strictSame(
      Object.fromEntries(shown),
      {
        labels: has('labels'),
        reviewers: has('reviewers'),
        assignees: has('assignees'),
        draft: has('draft'),
        headBranch: forks ? 'yes' : 'no',
      },
      name,
    )
  }
})

t.test('each reason of the page is one', async (t) => {
  const reasons = rowsBelow('## When it does not work').map(([reason = '']) => reason)
  t.ok(reasons.length > 5)
  for (const reason of reasons) t.ok(isFailureReason(reason), reason)
})
