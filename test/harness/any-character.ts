import fc from './fast-check.ts'

const SURROGATES = { first: 0xd800, count: 0x800 } as const

/**
 * Any character of Unicode, as the unit of `fc.string`. It draws from what `unit: 'binary'` does, which makes a table of a
 * million characters for that: more than a CPU second.
 */
export const anyCharacter = fc
  .nat({ max: 0x10ffff - SURROGATES.count })
  .map((number) => String.fromCodePoint(number < SURROGATES.first ? number : number + SURROGATES.count))
