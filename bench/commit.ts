import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { endToEnd } from './end-to-end.ts'
import type { BenchRepository } from './end-to-end.ts'
import { median, table } from './figures.ts'
import { peakMemory } from './memory.ts'
import { clone, writer } from './methods.ts'
import type { Method } from './methods.ts'
import { overHTTPS, overSSH } from './ways.ts'
import type { ServedSSH } from './ways.ts'

const ROUNDS = 7
const TOKEN = 'bench-token'

interface Served {
  readonly caFile: string
  readonly small: BenchRepository
  readonly large: BenchRepository
  readonly ssh: ServedSSH
}

process.stdout.write('Making a repository of 10,000 files and 1,000 commits ...\n')
// A memory-backed folder, as in a cluster: on a disk the clones are slower still.
const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
const folder = await mkdtemp(join(base, 'commitlet-bench-'))
const child = spawn(process.execPath, [join(import.meta.dirname, 'server.ts')], {
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
  const https = overHTTPS({ caFile, folder }, large.url, TOKEN)
  const openSSH = await overSSH({ caFile, folder }, ssh)
  const methods = [
    writer(https, "Commitlet's writer"),
    clone(https, 'clone, commit, push', []),
    clone(https, 'clone --depth=1, commit, push', ['--depth=1']),
    writer(openSSH, "SSH: Commitlet's writer"),
    clone(openSSH, 'SSH: clone, commit, push', []),
    clone(openSSH, 'SSH: clone --depth=1, commit, push', ['--depth=1']),
  ]
  const rows = methods.map((method) => ({ method, times: [] as number[], memory: 0 }))
  // In turns, so that what else the machine does meets all alike; the first round only warms up.
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { method, times } of rows) {
      const milliseconds = await timed(method, `round ${round}: ${method.name}\n`)
      if (round > 0) times.push(milliseconds)
    }
  }
  for (const row of rows)
    row.memory = await peakMemory(() => row.method.write(`memory: ${row.method.name}\n`))
  await Promise.all(methods.map((method) => method.close()))
  const own = median(rows[0]!.times)
  process.stdout.write(
    `\nOne commit on loopback, over HTTPS where nothing else is said, median of ${ROUNDS} each, in turns\n\n`,
  )
  const cells = rows.map(({ method, times, memory }) => {
    const middle = median(times)
    return [method.name, middle.toFixed(0), `${(middle / own).toFixed(1)}x`, memory.toFixed(0)]
  })
  process.stdout.write(table(['', 'ms', 'ratio', 'MB at peak'], cells))
}

async function timed(method: Method, content: string): Promise<number> {
  const began = performance.now()
  await method.write(content)
  return performance.now() - began
}
