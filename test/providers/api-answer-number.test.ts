import t from 'tap'
import { isSerialNumber } from '../../functions/providers/api-answer.ts'

t.test('a whole number from 1 on is a valid number', async (t) => {
  for (const value of [1, 42, Number.MAX_SAFE_INTEGER]) t.ok(isSerialNumber(value), String(value))
})

t.test('nothing else is a valid number', async (t) => {
  const others = [0, -1, 1.5, NaN, Infinity, Number.MAX_SAFE_INTEGER + 1, '1', 1n, null, undefined, [1], true]
  for (const value of others) t.notOk(isSerialNumber(value), String(value))
})
