import { duplexPair } from 'node:stream'
import t from 'tap'
import { converse } from '../../../../functions/git/direct/channels/conversation.ts'
import { FLUSH, packet, readPackets } from '../../../../functions/git/protocol/pkt-line.ts'
import { shortReport } from '../../../../functions/git/protocol/short-report.ts'

const BOUNDS = { most: 200_000, take: () => () => undefined }

function stageOf() {
  const [here, there] = duplexPair()
  return { talk: converse(here), there }
}

t.test('answers end with a flush packet, however the bytes arrive', async (t) => {
  const { talk, there } = stageOf()
  const first = Buffer.concat([
    packet('0000'),
    packet('a'),
    Buffer.from('0001'),
    packet('x'.repeat(60_000)),
    FLUSH,
  ])
  const second = Buffer.concat([packet('b'), FLUSH])
  const all = Buffer.concat([first, second])
  const step = 997
  for (let at = 0; at < all.length; at += step) there.write(all.subarray(at, at + step))
  for (const expected of [first, second]) {
    const heard = await talk.hear(BOUNDS)
    t.ok(heard?.answer.equals(expected))
    t.equal(heard?.isCut, false)
  }
  t.ok(talk.isOpen())
  talk.end()
  t.notOk(talk.isOpen())
})

t.test('what is said arrives whole, and the end of the program is noticed', async (t) => {
  const { talk, there } = stageOf()
  const said = Buffer.alloc(300_000, 7)
  let arrived = 0
  there.on('data', ({ length }: Buffer) => (arrived += length))
  await talk.say([Buffer.from('x'), said])
  t.equal(arrived, 300_001)
  there.write(packet('half'))
  there.end()
  t.match(await talk.hear(BOUNDS), { isCut: true, answer: packet('half') })
  t.match(await talk.hear(BOUNDS), { isCut: true, answer: Buffer.alloc(0) })
  await talk.say([said])
})

t.test('what is not made of packets is left to the reader', async (t) => {
  const { talk, there } = stageOf()
  there.write('Welcome!\n')
  t.match(await talk.hear(BOUNDS), { isCut: false, answer: Buffer.from('Welcome!\n') })
})

t.test('an answer above its limit ends the program', async (t) => {
  const { talk, there } = stageOf()
  there.on('error', () => undefined)
  there.write(packet('x'.repeat(1_000)))
  t.equal(await talk.hear({ ...BOUNDS, most: 500 }), undefined)
  t.notOk(talk.isOpen())
})

t.test('a budget that is used up ends the program', async (t) => {
  const { talk, there } = stageOf()
  there.write(packet('x'))
  const take = (): never => {
    throw new Error('nothing is left')
  }
  await t.rejects(talk.hear({ most: 500, take }), { message: 'nothing is left' })
  t.notOk(talk.isOpen())
})

t.test('an answer of too many short packets ends there, and is left to the reader', async (t) => {
  const { talk, there } = stageOf()
  there.write(Buffer.alloc(180_000, packet('\x02a')))
  const heard = await talk.hear(BOUNDS)
  t.equal(heard?.isCut, false)
  t.throws(() => [...readPackets(heard?.answer ?? Buffer.alloc(0))], { code: 'TOO_MANY' })
  talk.end()
})

t.test('the end of an answer is heard behind more words of hooks than its limit', async (t) => {
  const { talk, there } = stageOf()
  const report = Buffer.concat([packet(Buffer.concat([Buffer.of(1), packet('unpack ok\n'), FLUSH])), FLUSH])
  there.write(Buffer.concat([Buffer.alloc(60_005 * 40, packet(`\x02${'x'.repeat(60_000)}`)), report]))
  const heard = await talk.hear({ ...BOUNDS, most: 400_000, shorten: shortReport() })
  t.equal(heard?.isCut, false)
  t.ok(heard?.answer.subarray(-report.length).equals(report))
  talk.end()
})
