import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { leash } from '../harness/leash.ts'
import { stopSignal } from '../harness/stop-signal.ts'
import { findLabPrograms, isLabBuilt } from './lab-build.ts'
import { lackOf } from './lack.ts'
import { KEEP, OPEN_FD } from './visit.ts'

const ROOT = join(import.meta.dirname, '../..')
const OPTIONS = {
  slack: { type: 'string', default: '1' },
  keep: { type: 'boolean', default: false },
  'if-built': { type: 'boolean', default: false },
} as const
const MOST_MS = 15 * 60_000
/** What lets the lab end as a whole: its processes, networks and mounts are in namespaces that end with it. */
const NAMESPACES = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
const BEGIN = 'mount -t tmpfs tmpfs /run && ip link set lo up && exec "$@"'

/**
 * `npm run lab`: exit code 0, 1 where something failed or an aim was missed, 2 where the machine lacks something. With
 * `-- --slack=10`, on a machine that has other work, a figure may be ten times its aim. With `-- --keep` nothing is
 * measured, and the cluster stays open for visitors. With `-- --if-built`, as in CI, nothing is done where the lab would
 * have to be built first, or the machine lacks something.
 */
async function main(): Promise<number> {
  const { slack, keep, 'if-built': ifBuilt } = parseArgs({ options: OPTIONS }).values
  const lack = lackOf()
  if (ifBuilt && (lack !== undefined || !(await isLabBuilt(process.env)))) return skip(lack)
  if (lack !== undefined) return refuse(lack)
  const stop = stopSignal()
  const programs = await findLabPrograms({ env: process.env, say, signal: stop })
  if ('missing' in programs) return refuse(programs.missing)
  execFileSync(process.execPath, [join(ROOT, 'build.ts')], { cwd: ROOT })
  if (stop.aborted) return 1
  const inside = [process.execPath, join(import.meta.dirname, 'inside.ts'), keep ? KEEP : slack]
  const child = spawn('unshare', [...NAMESPACES, 'sh', '-c', BEGIN, 'sh', ...inside], {
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
    detached: true,
  })
  child.stdio[OPEN_FD]?.once('data', (words: Buffer) => say(wayIn(child.pid ?? NaN, words)))
  const untie = leash(child.pid ?? NaN)
  const end = (): void => void child.kill('SIGKILL')
  stop.addEventListener('abort', end)
  const timer = keep ? undefined : setTimeout(end, MOST_MS)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearTimeout(timer)
  untie()
  return code ?? (keep ? 0 : 1)
}

/** How a shell is started in the namespaces, whose first process is the child of unshare. */
function wayIn(unshare: number, words: Buffer): string {
  const first = readFileSync(`/proc/${unshare}/task/${unshare}/children`, 'utf8').trim()
  const shell = (JSON.parse(words.toString()) as readonly string[]).join(' ')
  return `\nThe lab is open. Enter it in another terminal:\n\n  nsenter --target=${first} --mount --net --pid ${shell}`
}

function skip(lack = 'The lab is not built on this machine.'): number {
  say(`SKIPPED: ${lack}`)
  return 0
}

function refuse(sentence: string): number {
  say(sentence)
  return 2
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

process.exit(await main())
