import t from 'tap'
import { worst } from '../../../cli/terminal/exit-codes.ts'
import { outcomeOf, withoutPromise } from '../../../cli/terminal/steps.ts'
import { jsonText, plain, plainLine, styles, table, wrapped } from '../../../cli/terminal/style.ts'

t.test('styles, or none', async (t) => {
  t.equal(styles(true)('red', 'x'), '\u001b[31mx\u001b[39m')
  t.equal(styles(false)('red', 'x'), 'x')
})

t.test('nothing of elsewhere steers the terminal', async (t) => {
  t.equal(plain('a\u001b[31mb\u202e\n\tc'), 'a?[31mb?\n\tc')
})

t.test('what is printed in a line stays in it', async (t) => {
  t.equal(plainLine('it failed\n✓ log-in\r\n\tand more'), 'it failed ✓ log-in? and more')
})

t.test('nothing in JSON steers the terminal either, and it means the same', async (t) => {
  const value = { a: 'a\u001b[31mb\u009b31m\u202e\u{e0001}\u007f"' }
  const text = jsonText(value)
  t.match(text, /^[\n -~]+$/)
  t.same(JSON.parse(text), value)
})

t.test('lines are broken at blanks', async (t) => {
  t.equal(wrapped('one two three', { width: 8, indent: 2 }), 'one two\n  three')
  t.equal(wrapped('one two', { width: Infinity, indent: 2 }), 'one two')
})

t.test('columns are as wide as their widest cell', async (t) => {
  t.same(
    table([
      ['a', 'bb', 'c'],
      ['aaa', 'b', ''],
    ]),
    ['a    bb  c', 'aaa  b'],
  )
})

t.test('the promise to retry, which a command does not keep, is left out', async (t) => {
  t.equal(withoutPromise('It is down (503); Commitlet retries automatically.'), 'It is down (503).')
  t.equal(
    withoutPromise('It is odd; Commitlet retries automatically, and the operator has to check it.'),
    'It is odd; the operator has to check it.',
  )
  t.equal(withoutPromise('Fix it.'), 'Fix it.')
})

t.test('how steps end', async (t) => {
  const step = { step: 'x', text: '' }
  t.equal(
    outcomeOf([
      { ...step, state: 'good' },
      { ...step, state: 'unseen' },
    ]),
    'good',
  )
  t.equal(outcomeOf([{ ...step, state: 'unseen', needed: true }]), 'unknown')
  t.equal(
    outcomeOf([
      { ...step, state: 'unseen', needed: true },
      { ...step, state: 'wrong' },
    ]),
    'wrong',
  )
  t.equal(worst([]), 'good')
  t.equal(worst(['good', 'unknown', 'wrong']), 'wrong')
})
