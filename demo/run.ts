import { requirePrograms } from '../functions/git/process/required-programs.ts'
import { stopSignal, until } from '../test/harness/stop-signal.ts'
import { runOnCluster } from './cluster/cluster.ts'
import { follow } from './cluster/follow.ts'
import type { Leftovers } from './leftovers.ts'
import { makeLeftovers } from './leftovers.ts'
import { runInMemory } from './memory.ts'
import type { Variant } from './options.ts'
import type { Printer } from './print.ts'
import { makePrinter } from './print.ts'
import { runStory } from './story/story.ts'

/** What each variant of the demo gets: the printer, the list of what is closed at the end, and the stop signal. */
export interface Stage {
  readonly print: Printer
  readonly leftovers: Leftovers
  /** Fires when the user stops the demo. */
  readonly stop: AbortSignal
}

/** Longer than any program needs to stop. */
const CLEAR_DEADLINE_MS = 20_000

/**
 * Runs the demo to its end, or until Ctrl-C or another signal, and removes everything that it started. Returns one
 * sentence if something went wrong.
 * @throws WrongSetting if a program is missing, before anything is started
 */
export async function run(variant: Variant): Promise<string | undefined> {
  requirePrograms(process.env['PATH'])
  const leftovers = makeLeftovers()
  const stage = { print: makePrinter(process.stdout, process.env), leftovers, stop: interruption() }
  try {
    return await play(variant, stage)
  } finally {
    await leftovers.clear(CLEAR_DEADLINE_MS)
  }
}

async function play(variant: Variant, stage: Stage): Promise<string | undefined> {
  const stopped = until(stage.stop).then(
    () => 'The demo was stopped before its end; everything that it started is stopped and removed.',
  )
  if (variant.run !== 'cluster') {
    const runs = { story: runStory, memory: runInMemory }
    return Promise.race([runs[variant.run](stage), stopped])
  }
  const running = await Promise.race([runOnCluster(stage), stopped])
  if (typeof running === 'string') return running
  if (variant.keep) await follow(running, stage)
  else stage.print.line('\nNext: npm run demo -- --cluster --keep stays up for your own kubectl apply.')
  return undefined
}

/** Fires at the first signal; later signals (npm sends Ctrl-C twice) do not interrupt the cleanup. */
function interruption(): AbortSignal {
  const outputClosed = new AbortController()
  // An error means that the reader has closed the output.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => outputClosed.abort())
  return AbortSignal.any([stopSignal(), outputClosed.signal])
}
