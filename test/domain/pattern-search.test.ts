import t from 'tap'
import { indexOf, search } from '../../functions/domain/pattern-search.ts'
import fc from '../harness/fast-check.ts'
import { costOf, growthOf, isNearlyLinear, allowedMs } from '../harness/growth.ts'

/** Every occurrence, as `start-end`. */
function foundIn(text: string, patterns: readonly string[], cutAt?: number): ReadonlySet<string> {
  const found = new Set<string>()
  search(indexOf(patterns), {
    text,
    ...(cutAt === undefined ? {} : { cutAt }),
    budget: { left: Infinity },
    found: (start, end) => found.add(`${start}-${end}`),
  })
  return found
}

const letters = (maxLength: number, minLength = 1) =>
  fc.string({ unit: fc.constantFrom('a', 'b'), minLength, maxLength })

t.test('every occurrence of every pattern is found, and nothing else', async (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(letters(12), { maxLength: 20 }), letters(60, 0), (patterns, text) => {
      const found = foundIn(text, patterns)
      const wanted = patterns.flatMap((pattern) =>
        Array.from({ length: text.length }, (_, at) => at)
          .filter((at) => text.startsWith(pattern, at))
          .map((at) => `${at}-${at + pattern.length}`),
      )
      return found.size === wanted.length && wanted.every((one) => found.has(one))
    }),
  )
  t.pass()
})

t.test('a pattern whose first eight characters are at the end of a cut text is found there', async (t) => {
  fc.assert(
    fc.property(letters(30, 8), letters(30, 0), fc.nat({ max: 8 }), (pattern, before, unsure) => {
      for (let read = 8; read <= pattern.length; read += 1) {
        const known = `${before}${pattern.slice(0, read)}`
        const found = foundIn(`${known}${'c'.repeat(unsure)}`, [pattern], known.length)
        // It may also begin earlier.
        const first = Math.min(...[...found].map((one) => Number.parseInt(one, 10)))
        if (first > before.length) return false
      }
      return true
    }),
  )
  t.pass()
})

const SHAPES: Readonly<Record<string, (size: number) => readonly [string, readonly string[]]>> = {
  'many patterns that begin alike': (size: number) => [
    'x'.repeat(size),
    Array.from({ length: 1_024 }, (_, at) => `${'x'.repeat(40)}${at}`),
  ],
  'patterns of all lengths': (size: number) => [
    'x'.repeat(size),
    Array.from({ length: 350 }, (_, at) => `${'x'.repeat(at + 8)}y`),
  ],
  'patterns of which each begins another': (size: number) => [
    'x'.repeat(size),
    Array.from({ length: 350 }, (_, at) => 'x'.repeat(at + 1)),
  ],
}

for (const [name, shape] of Object.entries(SHAPES)) {
  t.test(`${name}: a search ends with its budget`, async (t) => {
    function work(size: number) {
      const [text, patterns] = shape(size)
      const index = indexOf(patterns)
      return () => search(index, { text, budget: { left: 80_000 }, found: () => undefined })
    }
    // The engine compiles what has run before.
    costOf(work, 65_536)
    const spent = costOf(work, 65_536)
    t.ok(spent < allowedMs(2), `${spent} ms`)
  })
}

t.test('the time grows with the text, however many patterns there are', async (t) => {
  const index = indexOf(Array.from({ length: 1_024 }, (_, at) => `${at}-a-secret-value`))
  const growth = growthOf((size) => {
    const text = 'a-secret-'.repeat(size / 9)
    return () => search(index, { text, budget: { left: Infinity }, found: () => undefined })
  }, 4_194_304)
  t.ok(isNearlyLinear(growth), JSON.stringify(growth))
})
