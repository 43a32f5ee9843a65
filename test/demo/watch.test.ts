import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { makePrinter } from '../../demo/print.ts'
import { followLines, rowPrinter } from '../../demo/cluster/watch.ts'
import { waitFor } from '../harness/wait.ts'

t.test('a row is printed where it differs from the one before of the same resource', async (t) => {
  const written: string[] = []
  const print = makePrinter({ write: (text) => written.push(text.replace(/^\d\d:\d\d:\d\d/, 'NOW')) }, {})
  const take = rowPrinter(print, ['GitCommit demo/shop|Succeeded|Succeeded|0123456789ab', ''])
  take('GitCommit demo/shop|Succeeded|Succeeded|0123456789ab')
  take('GitCommit demo/shop|Progressing|Progressing|0123456789ab')
  take('GitCommit demo/till|Pending||')
  take('GitCommit demo/shop|Progressing|Progressing|0123456789ab')
  t.same(written, [
    'NOW  GitCommit demo/shop               Progressing  Progressing           0123456789ab\n',
    'NOW  GitCommit demo/till               Pending\n',
  ])
})

t.test('a command that ends is started again, until it is stopped', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'commitlet-watch-'))
  t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
  const pids = join(folder, 'pids')
  await writeFile(pids, '')
  const lines: string[] = []
  const script = 'echo $$ >>"$0"; echo begun; [ "$(wc -l <"$0")" -eq 1 ] || exec sleep 60'
  const stop = followLines('sh', ['-c', script, pids], (line) => lines.push(line))
  await waitFor('second start', () => lines[1], 20_000)
  await stop()
  t.same(lines, ['begun', 'begun'])
  const [, second] = (await readFile(pids, 'utf8')).split('\n')
  await waitFor('end of the second', () => !isAlive(Number(second)) || undefined, 20_000)
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
