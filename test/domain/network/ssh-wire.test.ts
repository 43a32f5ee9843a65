import t from 'tap'
import { readWire, wireString } from '../../../functions/domain/network/ssh-wire.ts'

t.test('strings of the wire format are read as they were written, and not beyond their end', async (t) => {
  const wire = readWire(Buffer.concat([wireString('a'), wireString(''), Buffer.from([0, 0, 1, 0])]))
  t.same([wire.text(), wire.string().length, wire.left(), wire.number()], ['a', 0, 4, 256])
  t.equal(wire.left(), 0)
  t.throws(() => wire.number())
  t.throws(() => readWire(Buffer.from([0, 0, 0, 2, 1])).string())
})
