import { execFile } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { stopSignal, until } from '../test/harness/stop-signal.ts'
import { BOUNDS, judge, type Verdict } from './bounds.ts'
import { measure, type Run } from './measure.ts'
import { readOptions, USAGE, type Options } from './options.ts'
import { FULL, SHORT } from './plan.ts'
import type { Ratio } from './ratios/ratio.ts'
import { ratiosOf } from './ratios/ratios.ts'
import { renderPage } from './report/render.ts'
import { GROUPS, RECORDED, writeResults, type Group, type Results } from './results.ts'
import { table } from './statistics.ts'

const ROOT = join(import.meta.dirname, '..')
const HEADING = ['', 'measured', 'baseline', 'ratio', 'at most', '']
/** How long a second look at what is behind its bound may take. */
const SECOND_LOOK_MS = 60_000

/** `npm run bench`: the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  if (typeof options === 'string') {
    process.stderr.write(`${options}\n${USAGE}`)
    return 2
  }
  if (options.render) {
    await renderPage()
    return 0
  }
  const stop = stopSignal()
  // A memory-backed folder, as in a cluster: on a disk the clones are slower still.
  const base = existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
  const folder = await mkdtemp(join(base, 'commitlet-bench-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  process.env['TMPDIR'] = folder
  try {
    const stopped = until(stop).then(() => undefined)
    const code = await Promise.race([measureAndJudge(options, folder), stopped])
    if (code === undefined) say('Stopped.')
    return code ?? 1
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function measureAndJudge(options: Options, folder: string): Promise<number> {
  const form = options.short ? 'short' : 'full'
  const plan = options.short ? SHORT : FULL
  say('Building dist/ ...')
  await promisify(execFile)(process.execPath, [join(ROOT, 'build.ts')], { cwd: ROOT })
  const end = performance.now() + plan.minutes * 60_000
  const run: Run = { plan, form, groups: options.groups, folder, say, end }
  const results = await measure(run)
  const ratios = ratiosOf(results)
  process.stdout.write(reportOf(results, ratios))
  if (options.json !== undefined) await writeResults(options.json, results)
  if (form === 'full' && options.groups.length === GROUPS.length) {
    await writeResults(RECORDED, results)
    await renderPage()
    say('Recorded, and docs/performance.md is made from it.')
  }
  const sentences = await confirmed(judge(ratios, results), run)
  for (const sentence of sentences) say(`BEHIND  ${sentence}`)
  if (sentences.length === 0) say('No ratio is behind its bound.')
  return sentences.length === 0 ? 0 : 1
}

/** What is behind its bound is measured once more, and the second look decides where it was in time. */
async function confirmed(verdict: Verdict, run: Run): Promise<readonly string[]> {
  const groups = GROUPS.filter((group) => verdict.ids.some((id) => id.startsWith(`${group}/`)))
  if (groups.length === 0) return verdict.sentences
  for (const sentence of verdict.sentences) say(`A second look: ${sentence}`)
  const end = performance.now() + SECOND_LOOK_MS
  const again = await measure({ ...run, groups: neededBy(groups), end })
  const ratios = ratiosOf(again).filter(({ id }) => verdict.ids.includes(id))
  const isMeasured = verdict.ids.every((id) => ratios.some((ratio) => ratio.id === id))
  return isMeasured ? judge(ratios, again).sentences : verdict.sentences
}

/** The first commit of a process is measured with the bursts. */
function neededBy(groups: readonly Group[]): readonly Group[] {
  return groups.includes('start') ? GROUPS.filter((one) => groups.includes(one) || one === 'burst') : groups
}

function reportOf({ conditions, skipped }: Results, ratios: readonly Ratio[]): string {
  const { cores, node, load, minutes } = conditions
  const rows = ratios.map(({ id, title, value, unit, baseline, base, ratio }) => [
    title,
    `${value} ${unit}`,
    `${base}`,
    `${ratio}x`,
    BOUNDS[id] === undefined ? '' : `${BOUNDS[id].most}x`,
    baseline,
  ])
  return [
    `\n${cores} cores, Node ${node}, load average ${load.join(' before and ')} after, ${minutes} minutes\n\n`,
    table(HEADING, rows),
    ...skipped.map((what) => `not measured: ${what}\n`),
    '\n',
  ].join('')
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

process.exit(await main(process.argv.slice(2)))
