import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'

const ROOT = join(import.meta.dirname, '../..')

// test/e2e/kinds.test.ts proves this statement.
t.test('the documents say that the defaults of the API server are committed', async (t) => {
  for (const file of ['docs/gitcommit.md', 'examples/3-deployment.yaml']) {
    const text = readFileSync(join(ROOT, file), 'utf8').replaceAll(/\s+/g, ' ')
    t.match(text, /with the defaults of the API server/i, file)
    t.notMatch(text, 'what the cluster adds', file)
  }
})
