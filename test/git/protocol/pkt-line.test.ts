import t from 'tap'
import { DELIMITER, FLUSH, packet, readPackets, textOf } from '../../../functions/git/protocol/pkt-line.ts'

t.test('packets are written and read back, the special ones by name', async (t) => {
  const answer = Buffer.concat([packet('a\n'), DELIMITER, packet(Buffer.from([0, 255])), packet(''), FLUSH])
  t.equal(answer.toString('latin1'), '0006a\n00010006\x00\xff00040000')
  t.same(
    [...readPackets(Buffer.concat([answer, Buffer.from('0002')]))],
    [Buffer.from('a\n'), 'delimiter', Buffer.from([0, 255]), Buffer.alloc(0), 'flush', 'response end'],
  )
  t.same([...readPackets(Buffer.alloc(0))], [])
})

t.test('the largest packet has 65,520 bytes', async (t) => {
  const [content] = readPackets(packet(Buffer.alloc(65_516)))
  t.equal(content?.length, 65_516)
  t.throws(() => [...readPackets(packet(Buffer.alloc(65_517)))], { code: 'UNEXPECTED' })
})

for (const [code, text] of [
  ['UNEXPECTED', '0003'],
  ['UNEXPECTED', 'ffff'],
  ['UNEXPECTED', '<!DOCTYPE html>'],
  ['UNEXPECTED', ' 12a'],
  ['UNEXPECTED', '+004'],
  ['UNEXPECTED', '0x10'],
  ['TRUNCATED', '0006a\n00'],
  ['TRUNCATED', '0006a'],
] as const)
  t.test(`${JSON.stringify(text)} is ${code}`, async (t) => {
    t.throws(() => [...readPackets(Buffer.from(text))], { code })
  })

t.test('a text has no line end, and an error of the server is thrown', async (t) => {
  t.equal(textOf(Buffer.from('ok main\n')), 'ok main')
  t.equal(textOf(Buffer.from('ERROR\n\n')), 'ERROR\n')
  t.throws(() => textOf(Buffer.from('ERR upload-pack: not our ref 1\n')), {
    code: 'REMOTE',
    message: 'upload-pack: not our ref 1',
  })
})
