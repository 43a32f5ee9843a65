import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { endToEnd } from './end-to-end.ts'
import type { BenchRepository } from './end-to-end.ts'
import { median, table } from '../statistics.ts'
import { peakMemory } from './peak-memory.ts'
import { cloneWriter, commitletWriter } from './writers.ts'
import type { Writer } from './writers.ts'
import { httpsTarget, sshTarget } from './targets.ts'
import type { ServedSSH } from './targets.ts'
import { stopSignal, until } from '../../test/harness/stop-signal.ts'

const ROUNDS = 7
const TOKEN = 'bench-token'

interface Served {
  readonly caFile: string
  readonly small: BenchRepository
  readonly large: BenchRepository
  readonly ssh: ServedSSH
}

void until(stopSignal()).then(() => process.exit(1))
process.stdout.write('Making a repository of 10,000 files and 1,000 commits ...\n')
// A memory-backed folder, as in a cluster: on a disk the clones are slower still.
const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const folder = await mkdtemp(join(base, 'commitlet-bench-'))
const child = spawn(process.execPath, [join(import.meta.dirname, 'git-servers.ts')], {
  env: { ...process.env, TOKEN },
  stdio: ['pipe', 'pipe', 'inherit'],
})
const [line] = (await once(createInterface({ input: child.stdout }), 'line')) as [string]
const served = JSON.parse(line) as Served
try {
  await compare(served)
  await endToEnd({ caFile: served.caFile, token: TOKEN, repositories: [served.small, served.large] })
} finally {
  child.stdin.end()
  await once(child, 'exit')
  await rm(folder, { recursive: true })
}

async function compare({ caFile, large, ssh }: Served): Promise<void> {
  const https = httpsTarget({ caFile, folder }, large.url, TOKEN)
  const openSSH = await sshTarget({ caFile, folder }, ssh)
  const writers = [
    commitletWriter(https, "Commitlet's writer", 'direct'),
    commitletWriter(https, "Commitlet's writer, git binary", 'binary'),
    cloneWriter(https, 'clone, commit, push', []),
    cloneWriter(https, 'clone --depth=1, commit, push', ['--depth=1']),
    commitletWriter(openSSH, "SSH: Commitlet's writer", 'direct'),
    commitletWriter(openSSH, "SSH: Commitlet's writer, git binary", 'binary'),
    cloneWriter(openSSH, 'SSH: clone, commit, push', []),
    cloneWriter(openSSH, 'SSH: clone --depth=1, commit, push', ['--depth=1']),
  ]
  const rows = writers.map((writer) => ({ writer, times: [] as number[], memory: 0 }))
  // Interleaved, so that other load on the machine affects all alike. The first round only warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { writer, times } of rows) {
      const milliseconds = await timed(writer, `round ${round}: ${writer.name}\n`)
      if (round > 0) times.push(milliseconds)
    }
  }
  for (const row of rows)
    row.memory = await peakMemory(() => row.writer.write(`memory: ${row.writer.name}\n`))
  await Promise.all(writers.map((writer) => writer.close()))
  const own = median(rows[0]!.times)
  process.stdout.write(
    `\nOne commit on loopback, over HTTPS unless the row says SSH, median of ${ROUNDS} interleaved rounds\n\n`,
  )
  const cells = rows.map(({ writer, times, memory }) => {
    const middle = median(times)
    return [writer.name, middle.toFixed(0), `${(middle / own).toFixed(1)}x`, memory.toFixed(0)]
  })
  process.stdout.write(table(['', 'ms', 'ratio', 'MB at peak'], cells))
}

async function timed(writer: Writer, content: string): Promise<number> {
  const began = performance.now()
  await writer.write(content)
  return performance.now() - began
}
