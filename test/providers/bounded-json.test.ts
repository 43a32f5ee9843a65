import t from 'tap'
import { parseBounded } from '../../functions/providers/bounded-json.ts'
import { elements } from '../../functions/domain/json-value.ts'
import { cpuTime } from '../harness/cpu-time.ts'

const MIB = 1024 * 1024
/** Nearly the largest number of values that is read, in lists that are nearly as wide as any. */
const FULL = `[${Array(100)
  .fill(`[${Array(990).fill('1').join(',')}]`)
  .join(',')}]`

function nested(levels: number): string {
  return `${'{"a":['.repeat(levels / 2)}1${']}'.repeat(levels / 2)}`
}

t.test('JSON is read, and what is not JSON stays text', async (t) => {
  const texts: readonly (readonly [string, unknown])[] = [
    ['{"a": [1, null, "[{,\\"]}"]}', { a: [1, null, '[{,"]}'] }],
    ['"\\\\"', '\\'],
    ['7', 7],
    ['', ''],
    ['{"cut": "te', '{"cut": "te'],
    ['<html>[1,2]</html>', '<html>[1,2]</html>'],
    [']]]]', ']]]]'],
  ]
  for (const [text, value] of texts) t.strictSame(parseBounded(text), value, text)
})

t.test('as many values as a list of hosts can hold are read, and not more', async (t) => {
  t.equal(elements(parseBounded(FULL)).length, 100)
  t.equal(parseBounded(`[${FULL},${FULL}]`), undefined)
})

t.test('lists and objects as wide as no host needs are not read', async (t) => {
  for (const value of ['{}', '[]', '""', '1', '{"a":1}', '[[1,2]]']) {
    t.equal(elements(parseBounded(`[${Array(1_000).fill(value).join(',')}]`)).length, 1_000, value)
    t.equal(parseBounded(`[[],[${Array(1_001).fill(value).join(',')}]]`), undefined, value)
  }
  t.equal(parseBounded(`{${Array(1_001).fill('"a":1').join(',')}}`), undefined)
})

t.test('as many levels as no host needs are read, and not more', async (t) => {
  t.type(parseBounded(nested(100)), 'object')
  t.equal(parseBounded(nested(102)), undefined)
})

t.test('brackets within a string are not values', async (t) => {
  for (const sign of [',', '[', '{', '\\"', '\\\\'])
    t.type(parseBounded(`["${sign.repeat(300_000)}", "${sign.repeat(200)}"]`), Array, sign)
})

/** More than ten times what it takes; the rest is for the counters of the coverage. */
const LONGEST_MS = 3_000

t.test('any 4 MiB are read or refused quickly', async (t) => {
  const texts = ['{},', '[', '{"a":', '"', '\\', ' ', '"a",', '}', '語'].map(
    (piece) => `[${piece.repeat((4 * MIB) / Buffer.byteLength(piece))}`,
  )
  for (const text of texts) {
    const began = cpuTime()
    parseBounded(text)
    t.ok(cpuTime() - began < LONGEST_MS, text.slice(0, 5))
  }
})
