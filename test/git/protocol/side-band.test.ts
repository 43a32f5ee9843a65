import t from 'tap'
import { DELIMITER, FLUSH, packet, readPackets } from '../../../functions/git/protocol/pkt-line.ts'
import { readSideBand } from '../../../functions/git/protocol/side-band.ts'

const read = (...packets: readonly Buffer[]) => readSideBand(readPackets(Buffer.concat(packets)))
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
