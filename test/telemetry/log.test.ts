import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'

const LOG = join(import.meta.dirname, '../../functions/telemetry/log.ts')
const LINES = 12_000
/** Of one line; all of them are three times what may wait. */
const LENGTH = 1_024

/** A program that writes more lines than may wait, tells so, and exits as both parts do when it is asked to. */
const PROGRAM = `
import { openLog } from ${JSON.stringify(LOG)}
const { log, giveUp } = openLog('function', 'info')
for (let line = 0; line < ${LINES}; line += 1) log.info({ text: 'x'.repeat(${LENGTH}) }, 'a line')
process.send('written')
process.once('message', () => {
  giveUp()
  process.exit(0)
})`

/** Its standard output is a pipe that nobody reads yet. */
async function startUnread(t: Test): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', PROGRAM], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  await once(child, 'message')
  return child
}

/** Asks it to exit, and returns its code. A process that is killed writes down nothing of what it has covered. */
async function exitOf(child: ChildProcess): Promise<unknown> {
  child.send('exit')
  const [code] = await once(child, 'exit')
  return code
}

t.test('of lines that nobody reads, 4 MiB wait, and a line tells how many are missing', async (t) => {
  const child = await startUnread(t)
  let read = 0
  const { stdout } = child
  if (stdout === null) throw new Error('It has no standard output.')
  for await (const line of createInterface({ input: stdout })) {
    const { msg, lines }: { readonly msg: string; readonly lines?: number } = JSON.parse(line)
    if (lines === undefined) {
      read += 1
      continue
    }
    t.match(msg, 'was not read in time')
    t.equal(read + lines, LINES)
    break
  }
  t.ok(read * LENGTH < 5 * 1024 * 1024, `${read} lines`)
  t.ok(read * LENGTH > 3 * 1024 * 1024, `${read} lines`)
  t.equal(await exitOf(child), 0)
})

t.test('a program whose log nobody reads can exit', async (t) => {
  t.equal(await exitOf(await startUnread(t)), 0)
})
