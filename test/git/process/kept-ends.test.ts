import t from 'tap'
import { keepEnds } from '../../../functions/git/process/kept-ends.ts'

function kept(...pieces: readonly string[]): string {
  const ends = keepEnds({ first: 10, last: 6 })
  for (const piece of pieces) ends.add(Buffer.from(piece))
  return ends.text()
}

t.test('what fits is kept as it came', async (t) => {
  t.equal(kept(), '')
  t.equal(kept('ab\n', 'cd\n'), 'ab\ncd\n')
  t.equal(kept('0123456789abcdefghijkl'), '0123456789abcdefghijkl', 'twice the last ones')
})

t.test('where something is left out, the text begins again with a whole line', async (t) => {
  t.equal(kept('one\ntwo\nthree\n', 'four\n', 'five\n', 'six\n'), 'one\ntwo\nth\nfive\nsix\n')
  t.equal(
    kept(...Array.from({ length: 100 }, (_, index) => String(index % 10))),
    '0123456789\n',
    'of a line without a beginning nothing is kept',
  )
})
