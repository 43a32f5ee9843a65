import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import pino from 'pino'
import t from 'tap'
import { drain, type Draining } from '../../functions/telemetry/draining.ts'

/** Drains, and returns with which code the process would exit, and the lines of its log. */
async function drained(
  steps: Draining['steps'],
  { mostMs = 60_000, inHand = [] }: { readonly mostMs?: number; readonly inHand?: readonly string[] } = {},
) {
  const lines: unknown[] = []
  const stream = new Writable({
    write(line: Buffer, _encoding, done) {
      lines.push(JSON.parse(line.toString()))
      done()
    },
  })
  const { promise: code, resolve: exit } = Promise.withResolvers<number>()
  // The process would end where nothing is left that keeps it alive.
  const alive = setInterval(() => undefined, 1_000)
  void drain({ steps, mostMs, inHand: () => inHand, log: pino(stream), exit })
  return { code: await code.finally(() => clearInterval(alive)), lines }
}

t.test('where a folder cannot be removed, what follows is done nevertheless', async (t) => {
  const dir = t.testdir({ tmp: {} })
  await rm(join(dir, 'tmp'), { recursive: true })
  await writeFile(join(dir, 'tmp'), '')
  let flushed = false
  const { code, lines } = await drained({
    'sessions of Git': () => rm(join(dir, 'tmp', 'commitlet-1'), { recursive: true, force: true }),
    'Events of resources': () => Promise.resolve((flushed = true)),
  })
  t.equal(code, 0)
  t.equal(flushed, true)
  t.match(lines, [
    { level: 50, msg: 'could not end: sessions of Git', origin: { code: 'ENOTDIR' } },
    { msg: 'stopped' },
  ])
})

t.test('a step that takes too long is named, with what is at work', async (t) => {
  const inHand = Array.from({ length: 12 }, (_, index) => `GitCommit shop/settings-${index}`)
  const never = (): Promise<unknown> => Promise.withResolvers().promise
  const { code, lines } = await drained(
    { 'events in hand': () => Promise.resolve(), 'sessions of Git': never },
    { mostMs: 20, inHand },
  )
  t.equal(code, 1)
  t.match(lines, [{ level: 40, waitsFor: 'sessions of Git', inHand: inHand.slice(0, 10), count: 12 }])
  t.equal(lines.length, 1)
})
