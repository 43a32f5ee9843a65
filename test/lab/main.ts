import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { leash } from '../harness/leash.ts'
import { stopSignal } from '../harness/stop-signal.ts'
import { findLabPrograms } from './lab-build.ts'
import { lackOf } from './lack.ts'

const ROOT = join(import.meta.dirname, '../..')
const MOST_MS = 15 * 60_000
/** What lets the lab end as a whole: its processes, networks and mounts are in namespaces that end with it. */
const NAMESPACES = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc']
const BEGIN = 'mount -t tmpfs tmpfs /run && ip link set lo up && exec "$@"'

/**
 * `npm run lab`: exit code 0, 1 where something failed or an aim was missed, 2 where the machine lacks something. With
 * `-- --slack=10`, on a machine that has other work, a figure may be ten times its aim.
 */
async function main(): Promise<number> {
  const { values } = parseArgs({ options: { slack: { type: 'string', default: '1' } } })
  const lack = lackOf()
  if (lack !== undefined) return refuse(lack)
  const stop = stopSignal()
  const programs = await findLabPrograms({ env: process.env, say, signal: stop })
  if ('missing' in programs) return refuse(programs.missing)
  execFileSync(process.execPath, [join(ROOT, 'build.ts')], { cwd: ROOT })
  if (stop.aborted) return 1
  const { slack } = values
  const words = ['sh', '-c', BEGIN, 'sh', process.execPath, join(import.meta.dirname, 'inside.ts'), slack]
  const child = spawn('unshare', [...NAMESPACES, ...words], { stdio: 'inherit', detached: true })
  const untie = leash(child.pid ?? NaN)
  const end = (): void => void child.kill('SIGKILL')
  stop.addEventListener('abort', end)
  const timer = setTimeout(end, MOST_MS)
  const [code] = (await once(child, 'exit')) as [number | null]
  clearTimeout(timer)
  untie()
  return code ?? 1
}

function refuse(sentence: string): number {
  say(sentence)
  return 2
}

function say(line: string): void {
  process.stderr.write(`${line}\n`)
}

process.exit(await main())
