import t from 'tap'
import { collect } from '../harness/collect.ts'
import { allowedMs } from '../harness/growth.ts'
import { SEED, sized } from '../harness/sample.ts'
import { ENTRIES, isRefusal, type Entry } from './entries.ts'
import { hostEntries } from './host-entries.ts'
import { drawsFrom, mutated, type Draw } from './mutate.ts'

const INPUTS = sized(100, 100_000)
const MOST_MS = allowedMs(100)
/** What the later half of the inputs may leave behind: caches of a library, and code that was compiled late. */
const MOST_GROWTH_MIB = 24
const MIB = 2 ** 20
/** A failing input is shown in base64. */
const SHOWN = 400

function heapMiB(): number {
  collect()
  return process.memoryUsage().heapUsed / MIB
}

interface Fuzzed {
  readonly accepted: number
  readonly slowestMs: number
}

/** Reads so many changed inputs, or without `draw` the inputs as they are; throws what is not a refusal, with the input. */
async function fuzz({ valid, read }: Entry, draw: Draw | undefined, inputs: number): Promise<Fuzzed> {
  let [accepted, slowestMs] = [0, 0]
  for (let input = 0; input < inputs; input += 1) {
    const index = draw?.(valid.length) ?? input
    const bytes = valid[index] ?? Buffer.alloc(0)
    const changed = draw === undefined ? bytes : mutated(bytes, draw)
    const began = performance.now()
    try {
      await read(changed, index)
      accepted += 1
    } catch (error) {
      if (!isRefusal(error)) throw new Error(changed.toString('base64').slice(0, SHOWN), { cause: error })
    }
    slowestMs = Math.max(slowestMs, performance.now() - began)
  }
  return { accepted, slowestMs }
}

const seed = Buffer.from(process.env[SEED] ?? 'fuzz').reduce((sum, byte) => sum * 31 + byte, 7)

t.test('changed inputs are read or refused, soon, and leave nothing behind', async (t) => {
  for (const entry of [...ENTRIES, ...(await hostEntries(t))])
    await t.test(entry.entry, async (t) => {
      const unchanged = await fuzz(entry, undefined, entry.valid.length)
      t.ok(unchanged.accepted > 0, 'unchanged, some are read')
      const draw = drawsFrom(seed)
      const first = await fuzz(entry, draw, INPUTS / 2)
      const before = heapMiB()
      const second = await fuzz(entry, draw, INPUTS / 2)
      const growth = heapMiB() - before
      const slowestMs = Math.max(first.slowestMs, second.slowestMs)
      t.ok(slowestMs < MOST_MS, `the slowest took ${slowestMs.toFixed(1)} ms`)
      t.ok(growth < MOST_GROWTH_MIB, `the heap grew by ${growth.toFixed(1)} MiB`)
      const accepted = first.accepted + second.accepted
      t.comment(
        `${accepted} of ${INPUTS} accepted, slowest ${slowestMs.toFixed(1)} ms, ${growth.toFixed(1)} MiB`,
      )
    })
})
