import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from '../harness/fast-check.ts'
import t from 'tap'
import { allowedMs, costOf, growthOf, isNearlyLinear } from '../harness/growth.ts'
import { sample, sized } from '../harness/sample.ts'
import { shapeOf } from './row.ts'
import type { ParserRow } from './row.ts'
import { ROWS } from './rows.ts'

/** By what may hold the event loop. */
const MOST_MS = allowedMs(100)
const RANDOM_TEXTS = sized(1, 8)
/** The length of random texts: what takes the square of it takes seconds. */
const RANDOM_LENGTH = 262_144

/** A beginning, what is repeated, and an end, of the pieces of a parser. */
function pump(pieces: readonly string[]): fc.Arbitrary<readonly [string, string, string]> {
  const some = (minLength: number, maxLength: number): fc.Arbitrary<string> =>
    fc.array(fc.constantFrom(...pieces), { minLength, maxLength }).map((found) => found.join(''))
  return fc.tuple(some(0, 1), some(1, 3), some(0, 1))
}

function checkRandomTexts({ text, largest }: ParserRow): void {
  if (text === undefined) return
  const property = fc.property(pump(text.pieces), (parts) => {
    const took = costOf(shapeOf(parts, text.read), Math.min(largest, RANDOM_LENGTH))
    if (took > MOST_MS) throw new Error(`${took.toFixed(0)} ms`)
  })
  // To shrink a slow text would take minutes.
  fc.assert(property, { numRuns: RANDOM_TEXTS, endOnFailure: true })
}

/** A short run has one of each three parsers, and half of its shapes. */
const CHOSEN = sample(ROWS, (row) => String(Math.floor(ROWS.indexOf(row) / 3)))

for (const row of CHOSEN) {
  const { parser, largest, shapes } = row
  const of = `(${parser})`
  t.test(`time grows with the size, and the largest input is read at once ${of}`, async (t) => {
    const all = Object.entries(shapes)
    for (const [name, shape] of sample(all, (one) => String(Math.floor(all.indexOf(one) / 2)))) {
      const growth = growthOf(shape, largest)
      const shown = `${name}: ${growth.large.toFixed(1)} ms, a sixteenth of it ${growth.small.toFixed(2)} ms`
      t.ok(growth.large < MOST_MS, shown)
      t.ok(isNearlyLinear(growth), shown)
    }
    t.doesNotThrow(() => checkRandomTexts(row))
  })
}

t.test('work that takes the square of its size is found', async (t) => {
  const square = growthOf((size) => () => 'a'.repeat(size).match(/(?:a.*)?b/g), 8_000)
  t.notOk(isNearlyLinear(square), JSON.stringify(square))
})

t.test('docs/security.md has a row for each of them', async (t) => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/security.md'), 'utf8')
  for (const { parser } of ROWS) t.ok(page.includes(`| ${parser} |`), parser)
})
