import t from 'tap'
import { readListedRefs } from '../../../functions/git/protocol/ls-refs.ts'
import { DELIMITER, FLUSH, packet } from '../../../functions/git/protocol/pkt-line.ts'
import { readAdvertisedRef } from '../../../functions/git/protocol/receive-pack.ts'
import { shortRefs } from '../../../functions/git/protocol/short-refs.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'

const REF = 'refs/heads/main'
const ID = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
const MIB = 1024 * 1024

function shortened(
  answer: Buffer,
  step = 65_536,
  names: readonly string[] = [REF],
  allowLong?: (bytes: number) => boolean,
): Buffer {
  const shorten = shortRefs(names, allowLong)
  const parts: Buffer[] = []
  for (let at = 0; at < answer.length; at += step) parts.push(shorten(answer.subarray(at, at + step)))
  return Buffer.concat(parts)
}

/** A ref that was asked for, among so many bytes of others whose names begin as its own. */
function among(bytes: number, capabilities = ''): Buffer {
  const other = packet(`${ID} ${REF}${'x'.repeat(400)}\n`)
  return Buffer.concat([
    packet(`${ID} HEAD${capabilities}\n`),
    Buffer.alloc(Math.floor(bytes / other.length) * other.length, other),
    packet(`${ID} ${REF}\n`),
    FLUSH,
  ])
}

t.test('a ref is found among any others, of which the first one is kept', async (t) => {
  const short = shortened(among(19 * MIB))
  t.ok(short.length < 200, `${short.length} bytes`)
  t.same(readListedRefs(short, [REF]).named, new Map([[REF, { id: ID, target: undefined }]]))
  t.equal(readAdvertisedRef(shortened(among(19 * MIB, '\0report-status ofs-delta')), REF), ID)
  const others = shortened(among(MIB), 65_536, ['refs/heads/', 'HEAD'])
  t.ok(readListedRefs(others, ['HEAD']).any, 'that there are any is still seen')
})

t.test('a list says the same, however it arrives', async (t) => {
  for (const step of [1, 3, 7, 4_096])
    t.same(shortened(among(4_096), step), shortened(among(4_096)), String(step))
})

t.test('what is no ref is kept as it is', async (t) => {
  const unborn = packet('unborn HEAD symref-target:refs/heads/trunk\n')
  for (const answer of [
    Buffer.from('<html>Log in</html>'),
    packet('ERR it costs a fee\n'),
    Buffer.concat([unborn, FLUSH]),
    Buffer.concat([packet(`${ID} ${REF}\n`), FLUSH, packet(`${ID} refs/heads/other\n`), FLUSH]),
    Buffer.concat([packet(`${ID} ${REF}\n`), DELIMITER, FLUSH]),
    Buffer.from('0003'),
    Buffer.from('00ff'),
    Buffer.from('00'),
    Buffer.from('00ff and then'),
    Buffer.from('fff1and more'),
  ])
    for (const step of [1, 5, answer.length]) t.same(shortened(answer, step), answer)
})

t.test(
  'a list without an end, and one of very short pieces or refs, is kept for the bounds of the reader',
  async (t) => {
    t.ok(shortened(among(40 * MIB)).length > 7 * MIB)
    t.ok(shortened(among(2 * MIB), 4).length > MIB)
    const bare = packet(`${ID} a`)
    t.ok(shortened(Buffer.alloc(bare.length * 400_000, bare)).length > 4 * MIB)
  },
)

t.test('beyond 4 MiB, bytes have to be allowed', async (t) => {
  let allowed = 0
  const allowLong = (bytes: number): boolean => (allowed += bytes) <= 2 * MIB
  t.ok(shortened(among(5 * MIB), 65_536, [REF], allowLong).length < 200)
  t.ok(allowed > 0.9 * MIB && allowed < 1.2 * MIB, `${allowed} bytes`)
  t.ok(shortened(among(8 * MIB), 65_536, [REF], allowLong).length > 2 * MIB, 'the rest is kept')
})

t.test('19 MiB of refs are read in a moment', async (t) => {
  const answer = among(19 * MIB)
  const before = cpuTime()
  shortened(answer)
  t.ok(cpuTime() - before < allowedMs(100), `${cpuTime() - before} ms`)
})
