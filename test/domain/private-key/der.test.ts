import t from 'tap'
import { readDER, readSequence, TAG } from '../../../functions/domain/private-key/der.ts'
import { der, integer, sequence } from '../../harness/der-writer.ts'

t.test('elements are read one after the other, short ones and long ones', async (t) => {
  for (const size of [0, 1, 127, 128, 255, 256, 12_000]) {
    const from = readDER(Buffer.concat([der(TAG.octetString, Buffer.alloc(size, 9)), der(TAG.null)]))
    t.equal(from.tag(), TAG.octetString)
    t.equal(from.read(TAG.octetString).length, size)
    t.throws(() => from.end())
    t.equal(from.read(TAG.null).length, 0)
    t.equal(from.tag(), undefined)
    from.end()
  }
})

t.test('integers are bytes without leading zeros', async (t) => {
  for (const [value, bytes] of [
    [0n, ''],
    [1n, '01'],
    [127n, '7f'],
    [128n, '80'],
    [0x1234n, '1234'],
  ] as const) {
    t.equal(readDER(integer(value)).unsigned().toString('hex'), bytes)
  }
})

for (const [title, hex] of [
  ['nothing', ''],
  ['a tag alone', '04'],
  ['another tag', '0201'],
  ['an indefinite length', '048005000000'],
  ['a length that needs no second byte', '04810101'],
  ['a length that needs no third byte', '0482000101'],
  ['a length of three bytes', '0483010000'],
  ['a length that is cut', '0482'],
  ['more than there is', '04020a'],
] as const) {
  t.test(`${title} is not read`, async (t) => {
    t.throws(() => readDER(Buffer.from(hex, 'hex')).read(TAG.octetString), RangeError)
  })
}

for (const [title, hex] of [
  ['negative', '0180'],
  ['empty', '00'],
  ['longer than needed', '020001'],
] as const) {
  t.test(`an integer that is ${title} is not read`, async (t) => {
    t.throws(() => readDER(Buffer.from(`02${hex}`, 'hex')).unsigned(), RangeError)
  })
}

t.test('nothing may follow a sequence', async (t) => {
  const bytes = sequence(integer(1n))
  t.equal(readSequence(bytes).unsigned().length, 1)
  t.throws(() => readSequence(Buffer.concat([bytes, Buffer.from([0])])), RangeError)
})
