import { deflateSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { makeObject } from '../../../functions/git/objects/object.ts'
import { readPack } from '../../../functions/git/objects/pack-reader.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import {
  base,
  baseId,
  BLOB,
  delta,
  entry,
  head,
  LIMITS,
  OFS,
  onBase,
  options,
  packOf,
  REF,
} from './pack-bytes.ts'
import { createPace } from '../../../functions/git/objects/pace.ts'
import { resolveDeltas } from '../../../functions/git/objects/resolve-deltas.ts'
import { countTurns } from '../direct/turns.ts'
import { drawnTests } from '../../harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

const MIB = 1024 * 1024
const good = packOf([head, head])

/** Fails within 200 ms of CPU time, of which a test allows ten times as much, and with some MiB. */
async function rejectsSoon(t: Test, pack: Buffer, limits: Partial<typeof LIMITS> = {}): Promise<void> {
  const before = { cpu: cpuTime(), memory: process.memoryUsage().rss }
  await t.rejects(readPack(pack, options(limits)), { message: /^The server sent a pack that/ })
  const cpu = cpuTime() - before.cpu
  t.ok(cpu < allowedMs(200), `${cpu} ms`)
  const memory = (process.memoryUsage().rss - before.memory) / MIB
  t.ok(memory < 100, `${memory} MiB`)
}

const zeros = Buffer.alloc(32 * MIB)
const bomb = deflateSync(zeros)

t.test('a zip bomb is not inflated beyond the size that it says', async (t) => {
  await rejectsSoon(t, packOf([Buffer.concat([Buffer.from([0x3a]), bomb])], 1))
})

t.test('a stream of empty blocks is not inflated to its end', async (t) => {
  const blocks = Buffer.alloc(10 * MIB, Buffer.from('000000ffff', 'hex'))
  const [begin, end] = [Buffer.from('307801', 'hex'), Buffer.from('010000ffff00000001', 'hex')]
  t.equal((await readPack(packOf([Buffer.concat([begin, end])]), options()))[0]?.body.length, 0)
  await rejectsSoon(t, packOf([Buffer.concat([begin, blocks, end])]))
})

drawn('a delta is applied once, however often its base is there', async (t) => {
  const deltas = Array.from({ length: 100 }, (_, i) => {
    return entry(REF, delta(base.length, 1024, Array.from({ length: 1024 }, () => [1, i]).flat()), {
      base: baseId,
    })
  })
  const pack = packOf([...Array.from({ length: 100 }, () => head), ...deltas])
  t.equal((await readPack(pack, options({ totalBytes: MIB }))).length, 200)
})

t.test('objects without a byte leave turns of the event loop to others', async (t) => {
  const entries = Array.from({ length: 65_536 }, (_, at) => ({
    at,
    kind: 'blob' as const,
    body: Buffer.alloc(0),
  }))
  const resolving = { ...options(), budget: () => undefined, pace: createPace(undefined) }
  const { result, turns } = await countTurns(() => resolveDeltas(entries, resolving))
  t.equal(result.length, entries.length)
  t.ok(turns >= 250, `${turns} turns`)
})

t.test(
  'deltas without a base leave turns of the event loop to others, and each is looked for once',
  async (t) => {
    const count = 65_536
    const body = delta(1, 1, [1, 65])
    const entries = Array.from({ length: count }, (_, at) => ({
      at,
      kind: 'delta' as const,
      base: `${at}`,
      body,
    }))
    const asked: string[] = []
    const resolving = {
      ...options(),
      base: (id: string) => void asked.push(id),
      budget: () => undefined,
      pace: createPace(undefined),
    }
    const { result, turns } = await countTurns(() =>
      resolveDeltas(entries, resolving).catch((e: unknown) => e),
    )
    t.match(result, { reason: 'ProviderUnavailable', message: /a delta has no base/ })
    t.equal(asked.length, count)
    // One to find the deltas of each base, one to find each base.
    t.ok(turns > (2 * count) / 256 - 4, `${turns} turns`)
  },
)

drawn('a size beyond the limit is refused before memory is taken', async (t) => {
  await rejectsSoon(t, packOf([entry(BLOB, zeros)]), { objectBytes: MIB })
  await rejectsSoon(t, packOf([entry(BLOB, base, { size: 2 ** 40 })]))
  await rejectsSoon(t, packOf([entry(BLOB, base, { size: 2 ** 50 })]))
})

drawn('a size that so few bytes cannot have is refused before memory is taken', async (t) => {
  await rejectsSoon(t, packOf([entry(BLOB, base, { size: 100 * MIB })]))
})

drawn('all objects together have a limit', async (t) => {
  const pack = packOf(Array.from({ length: 24 }, (_, i) => entry(BLOB, Buffer.alloc(MIB / 2, i))))
  await rejectsSoon(t, pack, { totalBytes: 8 * MIB })
})

drawn('deltas that expand to much count towards the limit', async (t) => {
  const source = entry(BLOB, Buffer.alloc(MIB))
  const copies = Array.from({ length: 64 }, () => [0xc0, 0x10]).flat()
  const big = delta(MIB, 64 * MIB, copies)
  const id = Buffer.from(makeObject('blob', Buffer.alloc(MIB)).id, 'hex')
  const bombs = Array.from({ length: 50 }, () => entry(REF, big, { base: id }))
  t.equal((await readPack(packOf([source, ...bombs.slice(0, 1)]), options()))[1]?.body.length, 64 * MIB)
  await rejectsSoon(t, packOf([source, ...bombs]), { totalBytes: 80 * MIB })
  await rejectsSoon(t, packOf([source, ...bombs]), { objectBytes: 2 * MIB })
})

drawn('the number of objects and the bytes of a pack have a limit', async (t) => {
  await rejectsSoon(t, packOf([head], 0xffffffff))
  await rejectsSoon(t, good, { objects: 1 })
  await rejectsSoon(t, good, { packBytes: good.length - 1 })
  async function* endless() {
    for (;;) yield Buffer.alloc(MIB)
  }
  await t.rejects(readPack(endless(), options({ packBytes: 8 * MIB })), {
    reason: 'NotSupported',
    message: /too large/,
  })
})

drawn('a chain of deltas has a limit, and a long one no recursion', async (t) => {
  const links: Buffer[] = [head]
  // Each copies the whole object before it.
  const copy = delta(base.length, base.length, [0x90, base.length])
  for (let i = 0; i < 5000; i++)
    links.push(entry(OFS, copy, { base: offsetBytes((links.at(-1) ?? head).length) }))
  t.equal((await readPack(packOf(links), options({ deltaDepth: 5000 }))).length, 5001)
  await rejectsSoon(t, packOf(links))
})

function offsetBytes(offset: number): Buffer {
  return Buffer.from(offset < 128 ? [offset] : [0x80 | ((offset >> 7) - 1), offset & 0x7f])
}

drawn('a delta of many small instructions leaves the event loop its turns', async (t) => {
  const count = MIB
  const instructions = Buffer.alloc(2 * count)
  for (let i = 0; i < count; i++) instructions.writeUInt16BE(0x0141, 2 * i)
  const body = Buffer.concat([delta(base.length, count, []), instructions])
  let turns = 0
  let isRunning = true
  function turn() {
    turns++
    if (isRunning) setImmediate(turn)
  }
  turn()
  const read = await readPack(packOf([head, onBase(body)]), options())
  isRunning = false
  t.equal(read[1]?.body.length, count)
  t.ok(turns > 20, `${turns} turns`)
})
