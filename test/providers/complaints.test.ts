import t from 'tap'
import { complaintsAbout } from '../../functions/providers/complaints.ts'

const NAMES = Array.from({ length: 12 }, (_, index) => `name ${index}`)

for (const [count, last] of [
  [0, undefined],
  [1, 'No name 0.'],
  [10, 'No name 9.'],
  [11, 'The same is true of 1 more.'],
  [12, 'The same is true of 2 more.'],
] as const)
  t.test(`of ${count} names ten have a sentence, and the others are counted`, async (t) => {
    const made: string[] = []
    const said = complaintsAbout(NAMES.slice(0, count), (name) => {
      made.push(name)
      return `No ${name}.`
    })
    t.equal(said.at(-1), last)
    t.equal(said.length, Math.min(count, 11))
    t.strictSame(made, NAMES.slice(0, Math.min(count, 10)))
  })
