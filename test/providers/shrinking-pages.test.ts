import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import { TOO_LARGE } from '../../functions/domain/pull-request/large-answer.ts'
import { shrinkingPages, type Part } from '../../functions/providers/shrinking-pages.ts'

const LIMITS = { sizes: [50, 10, 1], most: 10 }

interface Read {
  readonly values: readonly number[]
  readonly asked: readonly string[]
  readonly tooLarge: number
}

/** Reads a list of so many numbers at a host that shows no more of them on a page; a page with one of `large` is too large. */
async function readList(total: number, large: readonly number[], longest = Infinity): Promise<Read> {
  const values: number[] = []
  const asked: string[] = []
  let tooLarge = 0
  const pages = shrinkingPages(LIMITS, ({ page, size, before }: Part) => {
    asked.push(`${page}×${size}`)
    const shown = Math.min(size, longest)
    const first = (page - 1) * shown
    const length = Math.max(0, Math.min(shown, total - first))
    const numbers = Array.from({ length }, (_, index) => first + index)
    if (numbers.some((one) => large.includes(one)))
      return Promise.reject(new Failure('ProviderUnavailable', 'Too large.', { cause: TOO_LARGE }))
    return Promise.resolve({ values: numbers, isLast: length === 0 || before + length >= total })
  })
  for await (const page of pages) {
    if (page === 'too large') tooLarge += 1
    else values.push(...page.values)
  }
  return { values, asked, tooLarge }
}

const numbersTo = (end: number): number[] => Array.from({ length: end }, (_, index) => index)

t.test('full pages are read to the end, ten at most', async (t) => {
  t.strictSame(await readList(120, []), {
    values: numbersTo(120),
    asked: ['1×50', '2×50', '3×50'],
    tooLarge: 0,
  })
  t.strictSame((await readList(0, [])).asked, ['1×50'])
  t.strictSame((await readList(900, [])).values, numbersTo(500))
  t.strictSame((await readList(70, [], 30)).values, numbersTo(70), 'where the host shows fewer')
})

t.test('a value that is too large is left out, and no other', async (t) => {
  const { values, asked, tooLarge } = await readList(65, [61])
  t.strictSame([...new Set(values)], [...numbersTo(61), 62, 63, 64])
  t.strictSame(asked, ['1×50', '2×50', '6×10', '7×10', '61×1', '62×1', '63×1', '64×1', '65×1'])
  t.equal(tooLarge, 3)
})

t.test('behind a value that is too large, pages grow again', async (t) => {
  const { values, asked } = await readList(120, [0])
  t.strictSame(values, numbersTo(120).slice(1))
  const singles = Array.from({ length: 10 }, (_, index) => `${index + 1}×1`)
  t.strictSame(asked, ['1×50', '1×10', ...singles, '2×10', '3×10', '4×10', '5×10', '2×50', '3×50'])
})

t.test('values before a smaller page are read twice rather than left out', async (t) => {
  const { values } = await readList(48, [33], 15)
  t.strictSame(
    [...new Set(values)],
    numbersTo(48).filter((one) => one !== 33),
  )
})

t.test('of a list whose values are all too large twenty pages are asked for', async (t) => {
  const { values, asked } = await readList(500, numbersTo(500))
  t.equal(asked.length, 20)
  t.strictSame(values, [])
})

t.test('any other error is thrown', async (t) => {
  const pages = shrinkingPages(LIMITS, () => Promise.reject(new Failure('Timeout', 'Late.')))
  t.match(await pages.next().catch((error: unknown) => error), { reason: 'Timeout' })
})
