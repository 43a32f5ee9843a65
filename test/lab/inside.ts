import { cp, mkdir, mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { table } from '../../bench/statistics.ts'
import { installCommitlet } from './commitlet.ts'
import { findLabPrograms } from './lab-build.ts'
import { measure } from './measure.ts'
import { openStage } from './stage.ts'
import { KEEP, openForVisitors } from './visit.ts'

/** In the lab's namespaces; it ends with them. */
const FOLDER = '/run/lab'

const began = performance.now()

/** Runs within the namespaces that main.ts makes: the exit code. */
async function inside(): Promise<number> {
  await mkdir(`${FOLDER}/tmp`, { recursive: true, mode: 0o755 })
  process.env['TMPDIR'] = `${FOLDER}/tmp`
  const programs = await findLabPrograms({ env: process.env, say })
  if ('missing' in programs) return refuse(programs.missing)
  const stage = await openStage(programs, FOLDER, say)
  if ('missing' in stage) return refuse(stage.missing)
  const [, , mode = '1'] = process.argv
  if (mode === KEEP) return openForVisitors(stage, FOLDER)
  say('Knative is ready; walking docs/install.md')
  await installCommitlet(stage, say)
  say('knative.yaml is Ready')
  const figures = await measure(stage, { slack: Number(mode), say })
  const rows = figures.map(({ what, measured, aim, good }) => [what, measured, aim, good ? 'ok' : 'MISSED'])
  process.stdout.write(table(['', 'measured', 'aim', ''], rows))
  return figures.every(({ good }) => good) ? 0 : 1
}

/** The logs of all pods would end with the lab. */
async function keepLogs(): Promise<void> {
  const kept = await mkdtemp('/tmp/commitlet-lab-logs-')
  const isLog = (source: string): boolean => source.endsWith('pods') || source.endsWith('.log')
  await cp(join(FOLDER, 'pods'), kept, { recursive: true, filter: isLog })
  say(`The logs of the pods are in ${kept}`)
}

function refuse(sentence: string): number {
  say(sentence)
  return 2
}

function say(line: string): void {
  process.stderr.write(`${((performance.now() - began) / 1000).toFixed(1)} s: ${line}\n`)
}

process.exit(
  await inside().catch(async (error: unknown) => {
    say(String(error))
    await keepLogs()
    return 1
  }),
)
