import t from 'tap'
import { DELIMITER, FLUSH, packet, readPackets } from '../../../functions/git/protocol/pkt-line.ts'
import { readPushReport } from '../../../functions/git/protocol/receive-pack.ts'
import { shortReport } from '../../../functions/git/protocol/short-report.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'

const REF = 'refs/heads/main'
const REPORT = Buffer.concat([packet('unpack ok\n'), packet(`ng ${REF} pre-receive hook declined\n`), FLUSH])
const MIB = 1024 * 1024

function band(number: number, content: string | Buffer): Buffer {
  return packet(Buffer.concat([Buffer.of(number), Buffer.from(content)]))
}

function shortened(answer: Buffer, step = answer.length): Buffer {
  const shorten = shortReport()
  const parts: Buffer[] = []
  for (let at = 0; at < answer.length; at += step) parts.push(shorten(answer.subarray(at, at + step)))
  return Buffer.concat(parts)
}

/** So many bytes of such packets, then the report. */
function behind(bytes: number, words: Buffer): Buffer {
  return Buffer.concat([
    Buffer.alloc(Math.floor(bytes / words.length) * words.length, words),
    band(1, REPORT),
    FLUSH,
  ])
}

t.test('the report is read behind any words of hooks, of which 256 KiB are kept', async (t) => {
  for (const words of [band(2, 'x'.repeat(60_000)), band(2, 'a line\n'), band(2, 'a'), band(2, '')]) {
    const short = shortened(behind(2 * MIB, words), 16_384)
    t.ok(short.length < 300_000, `${short.length} bytes`)
    const { ref, progress } = readPushReport(short, REF)
    t.same(ref, { refused: 'pre-receive hook declined' })
    t.ok(progress.length <= 256 * 1024)
    t.ok(words.length === 5 || progress.length > 128 * 1024)
  }
})

t.test('a short answer says the same, however it arrives', async (t) => {
  for (const answer of [
    Buffer.concat([
      band(2, 'one\n'),
      band(1, REPORT.subarray(0, 9)),
      band(2, 'two'),
      band(1, REPORT.subarray(9)),
      FLUSH,
    ]),
    REPORT,
  ])
    for (const step of [1, 2, 5, 7, answer.length])
      t.same(readPushReport(shortened(answer, step), REF), readPushReport(answer, REF), String(step))
})

t.test('what hooks cannot print is kept as it is', async (t) => {
  for (const answer of [
    Buffer.from('<html>Log in</html>'),
    Buffer.from('00'),
    Buffer.from('0003x'),
    Buffer.concat([packet(''), DELIMITER, band(3, 'no'), band(1, ''), packet('unpack'), FLUSH, band(2, 'x')]),
  ])
    for (const step of [1, 3, answer.length])
      t.same(shortened(answer, step), answer.length === 2 ? Buffer.alloc(0) : answer, String(answer))
})

t.test('beyond 64 MiB all is kept, so that the bounds of an answer end it', async (t) => {
  const shorten = shortReport()
  const words = Buffer.alloc(60_005 * 17, band(2, 'x'.repeat(60_000)))
  let size = 0
  for (let i = 0; i < 65; i += 1) size += shorten(words).length
  t.equal(size, 0)
  for (let i = 0; i < 5; i += 1) size += shorten(words).length
  t.ok(size > 2 * MIB)
})

t.test('where all is kept again, words that look like a report are none', async (t) => {
  const report = `000dunpack ok0016ok ${REF}0000`
  const line = band(2, `${report}\n`)
  const lines = Buffer.concat([Buffer.alloc(line.length * 524_288, line), line, band(1, REPORT), FLUSH])
  const many = shortened(lines, 65_536)
  t.same(readPushReport(many, REF).ref, { refused: 'pre-receive hook declined' })
  const long = band(2, report.repeat(1_000))
  const longs = Buffer.alloc(Math.ceil((64 * MIB) / long.length) * long.length, long)
  for (const step of [5 + report.length, 3]) {
    const shorten = shortReport()
    const end = longs.length - long.length
    const parts = [longs.subarray(0, end + step), longs.subarray(end + step), band(1, REPORT), FLUSH]
    const short = Buffer.concat(parts.map(shorten))
    t.ok(short.length < MIB)
    t.same(readPushReport(short, REF).ref, { refused: 'pre-receive hook declined' }, String(step))
  }
})

t.test('a flood of short packets takes little time', async (t) => {
  const few = behind(2 * MIB, band(2, 'a'))
  t.same([...readPackets(shortened(few, 65_536))].length, 7)
  const flood = Buffer.alloc(16 * MIB, band(2, 'a'))
  const before = cpuTime()
  t.ok(shortened(flood, 65_536).length > MIB, 'and too many are kept, so that the bounds of an answer end it')
  t.ok(cpuTime() - before < allowedMs(200), `${cpuTime() - before} ms`)
})
