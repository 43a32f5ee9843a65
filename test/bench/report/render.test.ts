import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { filesOf } from '../../../bench/report/render.ts'
import { RECORDED, readResults } from '../../../bench/results.ts'
import { spread } from '../../../bench/statistics.ts'
import { burst, commitCase, resultsOf } from '../results.ts'

const ROOT = join(import.meta.dirname, '../../..')
const AGAIN = 'run `npm run bench -- --render`'

t.test('docs/performance.md and its charts show the recorded run', async (t) => {
  const files = filesOf(await readResults(RECORDED))
  for (const [path, text] of files)
    t.ok(readFileSync(join(ROOT, path), 'utf8') === text, `${path} is up to date, or ${AGAIN}`)
  const charts = [...files.keys()].filter((path) => path.endsWith('.svg'))
  t.equal(charts.length, 6)
  const stored = readdirSync(join(ROOT, 'docs/performance')).map((name) => `docs/performance/${name}`)
  t.same(stored.toSorted(), charts.toSorted(), 'no chart is left over')
  const page = files.get('docs/performance.md') ?? ''
  for (const chart of charts)
    t.ok(page.includes(`](${chart.replace('docs/', '')})`), `the page shows ${chart}`)
  for (const broken of ['NaN', 'undefined', 'Infinity']) t.notOk(page.includes(broken), broken)
})

t.test('a chart names each of its lines, and has no line for what was not measured', async (t) => {
  const times = { warm: [30], clone: [900] }
  const files = filesOf(
    resultsOf({
      commits: [1, 100].map((count) => commitCase({ files: count, roundTripMs: 0 }, times)),
      bursts: [burst({ seconds: spread([0.05]), p50: 50, p99: 60 })],
    }),
  )
  const chart = files.get('docs/performance/commit-by-size.svg') ?? ''
  t.match(chart, /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
  t.match(chart, 'full clone</text>')
  t.match(chart, 'direct engine, warm</text>')
  t.notMatch(chart, 'clone --depth=1')
  t.notOk(files.has('docs/performance/replicas.svg'))
  t.notMatch(files.get('docs/performance.md') ?? '', 'Replicas')
})
