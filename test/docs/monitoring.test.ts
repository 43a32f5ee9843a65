import { readFileSync } from 'node:fs'
import t from 'tap'
import { FUNCTION_METRICS } from '../../functions/domain/telemetry/function-metrics.ts'
import { PROGRAM_METRICS } from '../../functions/domain/telemetry/program-metrics.ts'
import type { Metric } from '../../functions/domain/telemetry/meter.ts'
import { ATTRIBUTES, SPANS } from '../../functions/domain/telemetry/spans.ts'
import { WEBHOOK_METRICS } from '../../webhook/metrics.ts'

const PAGE = readFileSync(new URL('../../docs/monitoring.md', import.meta.url), 'utf8')

/** The rows of metrics below this heading, as the page has them. */
function rowsOf(heading: string): readonly string[] {
  const [, below = ''] = PAGE.split(`\n### ${heading}\n`)
  const [section = ''] = below.split('\n### ')
  return section
    .split('\n')
    .filter((line) => /^\| `\w+_\w+`/.test(line))
    .map((line) => line.replace(/ +/g, ' '))
}

function rowFor({ name, type, labels, help }: Metric): string {
  const named = labels.length === 0 ? 'none' : labels.map((label) => `\`${label}\``).join(', ')
  return `| \`${name}\` | ${type} | ${named} | ${help} |`
}

const SECTIONS: readonly (readonly [string, Readonly<Record<string, Metric>>])[] = [
  ['Of both programs', PROGRAM_METRICS],
  ['Of the webhook', WEBHOOK_METRICS],
  ['Of the function', FUNCTION_METRICS],
]

for (const [heading, metrics] of SECTIONS)
  t.test(`${heading}: the page lists exactly the metrics that there are`, async (t) =>
    t.strictSame(rowsOf(heading), Object.values(metrics).map(rowFor)),
  )

t.test('names have their unit, and no label can have a value for each tenant', async (t) => {
  for (const { name, type, labels } of SECTIONS.flatMap(([, metrics]): Metric[] => Object.values(metrics))) {
    t.match(name, /^(commitlet|process)_[a-z_]+$/)
    t.equal(name.endsWith('_total'), type === 'counter', name)
    if (type === 'histogram') t.match(name, /_seconds$|_commits_per_push$|^commitlet_commits_per_push$/)
    for (const label of labels)
      t.notMatch(label, /namespace|repository|host|branch|user|name|uid/, `${name}: ${label}`)
  }
})

t.test('the page lists exactly the spans and the attributes that there are', async (t) => {
  const spans = Object.entries(SPANS).map(([name, { help }]) => `| \`${name}\` | ${help} |`)
  const attributes = Object.entries(ATTRIBUTES).map(([name, meaning]) => `| \`${name}\` | ${meaning} |`)
  t.strictSame(tableBelow('Spans'), spans)
  t.strictSame(tableBelow('Attributes'), attributes)
})

function tableBelow(heading: string): readonly string[] {
  const [, below = ''] = PAGE.split(`\n### ${heading}\n`)
  const [section = ''] = below.split('\n##')
  return section.split('\n').filter((line) => line.startsWith('| `'))
}
