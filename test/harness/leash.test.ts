import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t from 'tap'
import { waitFor } from './wait.ts'

const LEASH = JSON.stringify(join(import.meta.dirname, 'leash.ts'))
const PROGRAMS = JSON.stringify(join(import.meta.dirname, 'programs.ts'))
const DEADLINE_MS = 30_000
/** Each prints the id of the process that it has started, and keeps running. */
const OWNERS = {
  'a process': `import { spawn } from 'node:child_process'
    import { leash } from ${LEASH}
    const { pid } = spawn('sleep', ['600'], { stdio: 'ignore' })
    leash(pid)
    console.log(pid)`,
  'a group of processes, whose first has ended': `import { spawn } from 'node:child_process'
    import { leash } from ${LEASH}
    const child = spawn('sh', ['-c', 'sleep 600 >&2 & echo $!'], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
    leash(-child.pid)
    child.stdout.pipe(process.stdout)`,
  'the function': `import { startFunction } from ${PROGRAMS}
    const { pid } = await startFunction({ env: {}, by: ['sh', '-c', 'exec sleep 600'] })
    console.log(pid)`,
} as const

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

for (const [what, script] of Object.entries(OWNERS)) {
  t.test(`${what} is killed once the process that started it is killed`, async (t) => {
    const args = ['--input-type=module', '--eval', `${script}\nsetInterval(() => undefined, 1000)`]
    const owner = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    t.teardown(() => owner.kill('SIGKILL'))
    const [line] = (await once(createInterface({ input: owner.stdout }), 'line')) as [string]
    const pid = Number(line)
    t.ok(isThere(pid), 'it runs')
    owner.kill('SIGKILL')
    await waitFor('end of it', () => !isThere(pid) || undefined, DEADLINE_MS)
  })
}
