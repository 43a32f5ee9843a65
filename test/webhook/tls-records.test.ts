import t from 'tap'
import { findRecords } from '../../webhook/tls-records.ts'
import fc from '../harness/fast-check.ts'
import { sized } from '../harness/sample.ts'

/** A record with a body of so many bytes. */
function record(length: number): Buffer {
  return Buffer.from([23, 3, 3, length >> 8, length & 255, ...Array.from({ length }, () => 23)])
}

t.test('records end where they end, and no more of them are counted than are wanted', async (t) => {
  const bytes = Buffer.concat([record(0), record(1), record(300), record(7)])
  t.equal(findRecords()(bytes, 1), 5)
  t.equal(findRecords()(bytes, 2), 11)
  t.equal(findRecords()(bytes, 3), 316)
  t.equal(findRecords()(bytes, 4), bytes.length)
  t.equal(findRecords()(bytes, 9), bytes.length)
  t.equal(findRecords()(Buffer.alloc(0), 9), 0)
})

t.test('in whatever pieces they come, and however few are wanted at a time, they are found', async (t) => {
  const lengths = fc.array(fc.oneof(fc.nat(3), fc.nat(700)), { minLength: 1, maxLength: 40 })
  const property = fc.property(
    lengths,
    fc.integer({ min: 1, max: 60 }),
    fc.integer({ min: 1, max: 9 }),
    (all, step, most) => {
      const bytes = Buffer.concat(all.map(record))
      const ends = new Set<number>()
      let at = 0
      for (const length of all) ends.add((at += 5 + length))
      const endOfRecords = findRecords()
      for (let start = 0; start < bytes.length; start += step) {
        const piece = bytes.subarray(start, start + step)
        for (let done = 0; done < piece.length;) {
          const taken = endOfRecords(piece.subarray(done), most)
          const within = [...ends].filter((end) => end > start + done && end <= start + done + taken).length
          t.ok(taken > 0 && within <= most)
          done += taken
          // It stops within a piece at the end of a record alone.
          if (done < piece.length) t.ok(within === most && ends.has(start + done))
        }
      }
    },
  )
  fc.assert(property, { numRuns: sized(50, 1_000) })
})
