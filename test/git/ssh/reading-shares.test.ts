import t from 'tap'
import { SMALL_PACKETS, shareReading, type ReadingBounds } from '../../../functions/git/ssh/reading-shares.ts'

const MIB = 1024 * 1024
/** What is read at a time. */
const PIECE = MIB / 4
/** What a small packet costs. */
const PACKET = 4_096

/** Readers by a clock that a test sets. */
function stage(bounds?: ReadingBounds) {
  const clock = { now: 0 }
  const timers: { readonly at: number; readonly work: () => void }[] = []
  const letRead = shareReading(bounds, {
    elapsed: () => clock.now,
    later: (work, milliseconds) => void timers.push({ at: clock.now + milliseconds, work }),
  })

  function runUntil(end: number): void {
    for (;;) {
      const next = timers.toSorted((a, b) => a.at - b.at).find(({ at }) => at <= end)
      if (next === undefined) break
      timers.splice(timers.indexOf(next), 1)
      clock.now = Math.max(clock.now, next.at)
      next.work()
    }
    clock.now = end
  }

  /** Reads so many bytes at once; whether it need not wait for more. */
  function read(namespace: string, bytes: number): { readonly goesOn: boolean } {
    const seen = { goesOn: false }
    letRead(namespace, bytes, () => (seen.goesOn = true))
    return seen
  }

  /** Reads whatever it may, each piece a millisecond after the one before; counts the bytes. */
  function readOn(namespace: string): { readonly bytes: number } {
    const seen = { bytes: 0 }
    function readNext(): void {
      seen.bytes += PIECE
      letRead(namespace, PIECE, () => timers.push({ at: clock.now + 1, work: readNext }))
    }
    readNext()
    return seen
  }

  return { runUntil, read, readOn }
}

const TEN = Array.from({ length: 10 }, (_, index) => `evil-${index}`)

t.test('a namespace that alone reads much waits for nothing', async (t) => {
  const { runUntil, read, readOn } = stage()
  const alone = readOn('a')
  for (let at = 100; at <= 1_000; at += 100) {
    t.ok(read('b', 1_000).goesOn, 'a commit of another one')
    runUntil(at)
  }
  t.equal(alone.bytes, 1_001 * PIECE)
})

t.test(
  'namespaces that read much share 16 MiB a second, and one that reads little waits for none',
  async (t) => {
    const { runUntil, read, readOn } = stage()
    const all = TEN.map(readOn)
    runUntil(1_000)
    const before = all.map(({ bytes }) => bytes)
    for (let at = 1_100; at <= 11_000; at += 100) {
      t.ok(read('honest', PIECE / 8).goesOn)
      runUntil(at)
    }
    const taken = all.map(({ bytes }, index) => bytes - (before[index] ?? 0))
    const sum = taken.reduce((one, other) => one + other, 0)
    t.ok(sum <= 161 * MIB && sum >= 150 * MIB, `${sum / MIB} MiB in ten seconds`)
    for (const bytes of taken) t.ok(bytes <= 21 * MIB && bytes >= 11 * MIB, `${bytes / MIB} MiB of one`)
  },
)

t.test('of those that wait, the namespace that has read the least is next', async (t) => {
  const { runUntil, read, readOn } = stage()
  for (const namespace of TEN) readOn(namespace)
  runUntil(20_000)
  const seen = readOn('honest')
  runUntil(20_500)
  t.ok(seen.bytes >= 8 * MIB, `${seen.bytes / MIB} MiB in half a second`)
  t.notOk(read('evil-1', PIECE).goesOn)
})

t.test('a namespace waits for others as long as these read', async (t) => {
  const { runUntil, read } = stage()
  t.ok(read('a', 4 * MIB).goesOn, 'it is alone')
  const other = read('b', 4 * MIB)
  t.notOk(other.goesOn)
  runUntil(20)
  t.ok(other.goesOn)
  runUntil(1_021)
  t.ok(read('a', 4 * MIB).goesOn, 'it is alone again')
})

t.test(
  'small packets are free up to 4,096 at once, and wait also where one namespace alone sends them',
  async (t) => {
    const { runUntil, readOn } = stage(SMALL_PACKETS)
    const seen = readOn('evil')
    runUntil(100)
    t.ok(seen.bytes >= 16 * MIB, `${seen.bytes / PACKET} packets`)
    const before = seen.bytes
    runUntil(10_100)
    const perSecond = (seen.bytes - before) / PACKET / 10
    t.ok(perSecond <= 2_150 && perSecond >= 1_950, `${perSecond} packets a second`)
  },
)

t.test('beside ten namespaces that send small packets, one that sends few waits for none', async (t) => {
  const { runUntil, read, readOn } = stage(SMALL_PACKETS)
  for (const namespace of TEN) readOn(namespace)
  for (let at = 1_000; at <= 20_000; at += 1_000) {
    runUntil(at)
    t.ok(read('honest', 120 * PACKET).goesOn)
  }
})

t.test('however many send few small packets, those that send more have their share', async (t) => {
  const { runUntil, read, readOn } = stage(SMALL_PACKETS)
  const seen = readOn('honest')
  runUntil(100)
  const before = seen.bytes
  let waited = 0
  for (let at = 110; at <= 10_100; at += 10) {
    runUntil(at)
    waited += TEN.filter((namespace) => !read(namespace, 3 * PACKET).goesOn).length
  }
  t.equal(waited, 0)
  const perSecond = (seen.bytes - before) / PACKET / 10
  t.ok(perSecond >= 1_900, `${perSecond} packets a second`)
})
