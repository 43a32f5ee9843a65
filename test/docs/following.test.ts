import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { member } from '../../functions/domain/json-value.ts'
import { intervalSeconds } from '../../functions/domain/resource/following.ts'
import { STAMP_DAYS } from '../../functions/domain/requester/stamp-time.ts'
import { GITCOMMIT_STATUS } from '../../functions/domain/crd/git-commit-status.ts'
import { judge } from '../domain/fixtures/parsed.ts'
import { reviewContext } from '../domain/fixtures/review-context.ts'

const ROOT = join(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/following.md'), 'utf8')
const example = readFileSync(join(ROOT, 'examples/following/with-pull-request.yaml'), 'utf8')
const blocks = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text]) => text ?? '')

t.test('the story of the page is the file, and the gate lets all of it through', async (t) => {
  t.equal(blocks.length, 2)
  t.equal(blocks[1], example)
  t.match(example, /^# For a developer\. /)
  for (const text of blocks)
    for (const document of parseAllDocuments(text)) {
      const object: unknown = document.toJS()
      if (member(object, 'apiVersion') !== 'commitlet.dev/v1') continue
      const { fieldErrors, warnings } = await judge(object, reviewContext())
      t.strictSame([...fieldErrors, ...warnings], [])
    }
})

t.test('the page names each field, and the bounds that the code has', async (t) => {
  const fields = Object.keys(GITCOMMIT_STATUS.properties?.['sync']?.properties ?? {})
  const rows = [...page.matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name)
  t.strictSame(rows.toSorted(), ['sync', 'interval', ...fields].toSorted())
  t.match(page.replaceAll(/\s+/g, ' '), `counts for ${STAMP_DAYS} days`)
  const [, least = '', most = '', usual = ''] =
    /from `(\w+)` to `(\w+)`\. Defaults to `(\w+)`/.exec(page) ?? []
  t.strictSame([least, most, usual].map(intervalSeconds), [60, 86_400, 600])
})
