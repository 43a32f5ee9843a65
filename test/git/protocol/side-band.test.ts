import t from 'tap'
import { readFetched } from '../../../functions/git/protocol/fetch.ts'
import { DELIMITER, FLUSH, packet, readPackets } from '../../../functions/git/protocol/pkt-line.ts'
import { readPushReport } from '../../../functions/git/protocol/receive-pack.ts'
import { readSideBand } from '../../../functions/git/protocol/side-band.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'

function read(...packets: readonly Buffer[]) {
  const answer = Buffer.concat(packets)
  return readSideBand(readPackets(answer), answer.length)
}

const band = (number: number, text: string) => packet(`${String.fromCharCode(number)}${text}`)

t.test('data and progress are told apart', async (t) => {
  const { data, progress } = read(
    band(1, 'ab'),
    band(2, 'Counting\n'),
    band(1, ''),
    band(1, 'c'),
    band(2, 'x'),
    FLUSH,
  )
  t.equal(data.toString(), 'abc')
  t.equal(progress, 'Counting\nx')
})

t.test('of the progress 256 KiB are kept', async (t) => {
  const line = band(2, 'y'.repeat(60_000))
  const { progress } = read(...Array.from({ length: 6 }, () => line), FLUSH)
  t.equal(progress.length, 256 * 1024)
})

for (const [code, packets] of [
  ['REMOTE', [band(1, 'a'), band(3, 'no space left'), FLUSH]],
  ['UNEXPECTED', [band(4, 'a'), FLUSH]],
  ['UNEXPECTED', [packet(''), FLUSH]],
  ['UNEXPECTED', [DELIMITER, FLUSH]],
  ['TRUNCATED', [band(1, 'a')]],
] as const)
  t.test(`${code}: ${Buffer.concat(packets).toString('latin1')}`, async (t) => {
    t.throws(() => read(...packets), { code })
  })

const MIB = 1024 * 1024
const LIMIT_MS = 100

/** An answer of so many bytes, of the same packet again and again. */
function flood(bytes: number, one: Buffer, first = ''): Buffer {
  const start = first === '' ? Buffer.alloc(0) : packet(first)
  return Buffer.concat([start, Buffer.alloc(Math.floor(bytes / one.length) * one.length, one), FLUSH])
}

for (const [title, answer, reader] of [
  ['a pack of single bytes', flood(16 * MIB, band(1, 'a'), 'packfile\n'), readFetched],
  ['a pack with messages of single bytes', flood(16 * MIB, band(2, 'a'), 'packfile\n'), readFetched],
  ['ends of the history', flood(16 * MIB, packet('shallow 1\n'), 'shallow-info\n'), readFetched],
  ['a report of single bytes', flood(MIB, band(1, 'a')), (answer: Buffer) => readPushReport(answer, 'main')],
] as const)
  t.test(`${title} is refused in less than ${LIMIT_MS} ms`, async (t) => {
    const start = cpuTime()
    t.throws(() => reader(answer), { code: 'TOO_MANY' })
    const took = cpuTime() - start
    t.comment(`${took.toFixed(0)} ms`)
    t.ok(took < allowedMs(LIMIT_MS), `${took.toFixed(0)} ms of CPU time`)
  })
