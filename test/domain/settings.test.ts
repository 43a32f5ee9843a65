import { once } from 'node:events'
import { createServer } from 'node:net'
import t from 'tap'
import {
  choice,
  list,
  startComplaint,
  text,
  wholeNumber,
  WrongSetting,
} from '../../functions/domain/settings.ts'

t.test('a port that is in use is reported with its number', async (t) => {
  const first = createServer().listen(0, '127.0.0.1')
  t.teardown(() => first.close())
  await once(first, 'listening')
  const address = first.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const [error] = await once(createServer().listen(port, '127.0.0.1'), 'listening').catch(
    (error: unknown) => [error],
  )
  t.equal(startComplaint(error), `PORT is ${port}, but another program listens there; choose another port.`)
})

t.test('any other error at the start keeps its own message', async (t) => {
  t.equal(startComplaint(new WrongSetting('PORT is "x".')), 'PORT is "x".')
  t.equal(startComplaint('gone'), 'gone')
})

t.test('text is the value, or the default where it is unset or empty', async (t) => {
  t.equal(text({ A: 'x' }, 'A', 'd'), 'x')
  t.equal(text({ A: '' }, 'A', 'd'), 'd')
  t.equal(text({}, 'A', undefined), undefined)
})

const BOUNDS = { absent: 30, least: 1, most: 60 }

for (const [value, number] of [
  [undefined, 30],
  ['', 30],
  ['1', 1],
  ['060', 60],
] as const) {
  t.test(`${JSON.stringify(value)} is the number ${number}`, async (t) => {
    t.equal(wholeNumber(value === undefined ? {} : { A: value }, 'A', BOUNDS), number)
  })
}

for (const value of ['0', '61', '-1', '1.5', '1e1', ' 1', '0x1', 'ten', '9'.repeat(16)]) {
  t.test(`"${value}" is no whole number from 1 to 60`, async (t) => {
    const sentence = `A is "${value}", but has to be a whole number from 1 to 60.`
    t.throws(() => wholeNumber({ A: value }, 'A', BOUNDS), new WrongSetting(sentence))
  })
}

t.test('one of the words is accepted, the first is the default, and no other is allowed', async (t) => {
  t.equal(choice({}, 'A', ['on', 'off']), 'on')
  t.equal(choice({ A: 'off' }, 'A', ['on', 'off']), 'off')
  const refused = new WrongSetting('A is "Off", but has to be one of on, off.')
  t.throws(() => choice({ A: 'Off' }, 'A', ['on', 'off']), refused)
})

for (const [title, value, absent, items] of [
  ['nothing', undefined, undefined, []],
  ['nothing, with a default', '', 'x,y', ['x', 'y']],
  ['items with blanks and gaps', ' a , ,b,', 'x', ['a', 'b']],
  ['commas alone', ', ,', 'x', []],
] as const) {
  t.test(`a comma list of ${title}`, async (t) => {
    t.strictSame(list(value === undefined ? {} : { A: value }, 'A', absent), items)
  })
}
