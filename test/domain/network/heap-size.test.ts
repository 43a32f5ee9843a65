import t from 'tap'
import { collect } from '../../harness/collect.ts'
import { heapSize } from '../../../functions/domain/network/heap-size.ts'
import { chains } from '../../harness/chains.ts'

for (const [what, value] of [
  ['a value', () => null],
  ['objects within each other', () => chains(9_900, 24)],
  ['many short lists', () => Array.from({ length: 9_900 }, () => [])],
  ['many objects with keys of their own', () => chains(9_900, 2)],
  ['a long text', () => 'x'.repeat(250_000)],
  ['a long text in other letters', () => '語'.repeat(250_000)],
] as const) {
  t.test(`${what} takes no more memory than is estimated`, async (t) => {
    const texts = Array.from({ length: 20 }, () => JSON.stringify(value()))
    collect()
    const before = process.memoryUsage().heapUsed
    const held = texts.map((text): unknown => JSON.parse(text))
    collect()
    const each = (process.memoryUsage().heapUsed - before) / held.length
    // What else happens in the process.
    const slack = 8 * 1024
    t.ok(each <= heapSize(held[0]) + slack, `${each} bytes, estimated ${heapSize(held[0])}`)
  })
}

t.test('the estimate holds at any depth', async (t) => {
  const depth = 100_000
  t.ok(heapSize(JSON.parse('['.repeat(depth) + ']'.repeat(depth))) > depth)
})
