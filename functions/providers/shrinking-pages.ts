import { isTooLarge } from '../domain/pull-request/large-answer.ts'

/** Which page of a list is read. */
export interface Part {
  /** Counted from 1, in pages of this size. */
  readonly page: number
  /** How many values it has at most. */
  readonly size: number
  /** How many values stand in earlier pages. */
  readonly before: number
}

/** What was read of a page. */
interface ReadPage {
  readonly values: readonly unknown[]
  readonly isLast: boolean
}

/** Which pages are read of a list. */
export interface PageLimits {
  /** Numbers of values, falling, each a multiple of the next one, down to 1. */
  readonly sizes: readonly number[]
  /** Maximum number of pages; twice as many once one was too large. */
  readonly most: number
}

/**
 * The pages of a list that strangers fill, one at a time. One that is larger than its limit yields 'too large', and is read
 * again in smaller pages; a single value that is too large is passed over, because it cannot be one of ours.
 * @throws what `read` throws, unless `isTooLarge` knows it
 */
export async function* shrinkingPages<Page extends ReadPage>(
  { sizes, most }: PageLimits,
  read: (part: Part) => Promise<Page>,
): AsyncGenerator<Page | 'too large'> {
  let part: Part = { page: 1, size: sizes[0] ?? 1, before: 0 }
  let limit = most
  for (let asked = 0; asked < limit; asked += 1) {
    const page = await read(part).catch(tooLargeAlone)
    yield page
    if (page !== 'too large' && page.isLast) return
    if (page === 'too large') limit = 2 * most
    part = page === 'too large' && part.size > 1 ? smallerPart(part, sizes) : nextPart(part, page, sizes)
  }
}

/** The smaller page that has the first value of this one; values before it in that page are read twice. */
function smallerPart({ size, before }: Part, sizes: readonly number[]): Part {
  const smaller = sizes[sizes.indexOf(size) + 1] ?? 1
  const whole = Math.floor(before / smaller)
  return { page: whole + 1, size: smaller, before: whole * smaller }
}

/** The page after this one, a larger one where one begins there. */
function nextPart(
  { page, size, before }: Part,
  read: ReadPage | 'too large',
  sizes: readonly number[],
): Part {
  const passed = before + (read === 'too large' ? size : read.values.length)
  const larger = sizes[sizes.indexOf(size) - 1]
  return larger !== undefined && passed % larger === 0
    ? { page: passed / larger + 1, size: larger, before: passed }
    : { page: page + 1, size, before: passed }
}

function tooLargeAlone(error: unknown): 'too large' {
  if (isTooLarge(error)) return 'too large'
  throw error
}
