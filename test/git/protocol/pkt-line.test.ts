import t from 'tap'
import {
  DELIMITER,
  findFlush,
  FLUSH,
  packet,
  readPackets,
  textOf,
} from '../../../functions/git/protocol/pkt-line.ts'

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

function many(count: number, one: Buffer): Buffer {
  return Buffer.concat([...Array.from({ length: count }, () => one), FLUSH])
}

for (const [title, answer] of [
  ['8,000 keepalives', many(8_000, packet('\x02'))],
  ['30,000 lines of a hook', many(30_000, packet(`\x02${'x'.repeat(35)}\n`))],
  ['65,000 refs with short names', many(65_000, packet(`${'a'.repeat(40)} refs/tags/1\n`))],
] as const)
  t.test(`${title} are read`, async (t) => {
    t.equal([...readPackets(answer)].at(-1), 'flush')
    t.same(findFlush(answer, { at: 0, packets: 0 }), { end: answer.length })
  })

for (const [title, answer] of [
  ['12,000 empty packets', many(12_000, packet(''))],
  ['70,000 packets of any length', many(70_000, packet('x'.repeat(100)))],
] as const)
  t.test(`${title} are refused, and end an answer that is coming in`, async (t) => {
    t.throws(() => [...readPackets(answer)], { code: 'TOO_MANY' })
    const start = answer.subarray(0, -FLUSH.length)
    t.same(findFlush(start, { at: 0, packets: 0 }), { end: start.length })
  })

t.test('the search for the end goes on where it stopped', async (t) => {
  const answer = many(8_000, packet('\x02'))
  let searched = { at: 0, packets: 0 }
  for (let size = 0; size < answer.length; size += 7) {
    const found = findFlush(answer.subarray(0, size), searched)
    if ('end' in found) return t.fail('an end that is not there')
    searched = found
  }
  t.same(findFlush(answer, searched), { end: answer.length })
  t.ok(searched.packets > 7_900)
})
