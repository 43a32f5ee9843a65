import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { withFewRecords } from './tap-records.ts'

const FILE = `import t from 'tap'
const soon = () => new Promise((resolve) => setTimeout(resolve, 20))
t.test('thrown', async () => { setTimeout(() => { throw new Error('by a timer') }); await soon() })
t.test('outer', (t) => t.test('inner', async () => { Promise.reject(new Error('nobody handles')); await soon() }))
t.test('whole', async (t) => { await soon(); t.pass('went on') })
`

t.test('an error that nobody caught fails the innermost test that runs, and the others go on', async (t) => {
  const file = join(t.testdir({ 'errors.test.ts': FILE }), 'errors.test.ts')
  const env = { PATH: process.env['PATH'], NODE_OPTIONS: withFewRecords(undefined), TAP: '1' }
  const child = spawn(process.execPath, [file], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  t.equal(code, 1)
  // tap names a failed test again at the end.
  const points = new Set(output.match(/(not )?ok \d+ - [\w ]+\w/g)?.map((point) => point.replace(/ \d+/, '')))
  t.strictSame(
    [...points],
    [
      'not ok - by a timer',
      'not ok - thrown',
      'not ok - nobody handles',
      'not ok - inner',
      'not ok - outer',
      'ok - went on',
      'ok - whole',
    ],
  )
})
