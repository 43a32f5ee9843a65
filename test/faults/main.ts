import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundlePrograms } from '../../build.ts'
import { startControlPlane } from '../harness/control-plane.ts'
import { BUNDLES } from '../harness/programs.ts'
import { readOptions, USAGE } from './options.ts'
import { runFaults } from './run.ts'

/** Everything has succeeded so long after the last fault. */
const HOME_SECONDS = 60

/** `npm run test:faults`: exit code 0 if all resources succeeded exactly once and in time. */
async function main(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  if (options === undefined) {
    process.stderr.write(USAGE)
    return 2
  }
  const { seed, sizes } = options
  const undo: (() => unknown)[] = []
  const t = { teardown: (end: unknown) => void undo.push(end as () => unknown) }
  const say = (line: string): void => void process.stdout.write(`${line}\n`)
  try {
    const bundles = await mkdtemp(join(tmpdir(), 'commitlet-faults-'))
    t.teardown(() => rm(bundles, { recursive: true, force: true, maxRetries: 5 }))
    await bundlePrograms(bundles)
    process.env[BUNDLES] = bundles
    const plane = await startControlPlane({ own: true })
    if ('missing' in plane) throw new Error(plane.missing)
    t.teardown(() => plane.stop())
    say(`--seed=${seed}`)
    const run = await runFaults(t, plane, { seed, sizes, say })
    for (const finding of run.findings) say(finding)
    say(
      `${sizes.commits} GitCommits and ${sizes.pullRequests} PullRequests, ${run.faults} faults: ` +
        `applied in ${run.applySeconds.toFixed(1)} s, all succeeded ${run.secondsAfterLastFault.toFixed(1)} s ` +
        `after the last fault, ${run.findings.length} lost or double. --seed=${seed}`,
    )
    return run.findings.length === 0 && run.secondsAfterLastFault <= HOME_SECONDS ? 0 : 1
  } finally {
    for (const end of undo.toReversed()) await Promise.resolve(end()).catch(() => undefined)
  }
}

process.exitCode = await main(process.argv.slice(2))
