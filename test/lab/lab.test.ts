import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { isCounted, isLong } from '../harness/sample.ts'
import { lackOf } from './lack.ts'

/** Building included. */
const MOST_MS = 40 * 60_000

t.setTimeout(MOST_MS)
const lack = isLong() && !isCounted() ? lackOf() : 'Real Knative is for npm run lab and npm run test:long.'

if (lack !== undefined) t.pass('real Knative', { skip: lack })
else
  t.test('Commitlet on real Knative: from zero pods, at once, and while the revision changes', async (t) => {
    const began = performance.now()
    // Other tests take the processors, too.
    const lab = spawn(process.execPath, [join(import.meta.dirname, 'main.ts'), '--slack=10'])
    t.teardown(() => lab.kill())
    const [out, said, [code]] = await Promise.all([text(lab.stdout), text(lab.stderr), once(lab, 'close')])
    t.equal(code, 0, said)
    t.match(out, /200 from zero pods, pushes +\d+ +10 +ok/)
    t.comment(`${out}${Math.round((performance.now() - began) / 1000)} s`)
  })
