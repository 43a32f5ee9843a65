import { requirePrograms } from '../functions/git/process/required-programs.ts'
import { stopSignal, until } from '../test/harness/stop-signal.ts'
import { runOnCluster } from './cluster.ts'
import { follow } from './follow.ts'
import type { Leftovers } from './leftovers.ts'
import { makeLeftovers } from './leftovers.ts'
import { runInMemory } from './memory.ts'
import type { Flavour } from './options.ts'
import type { Printer } from './print.ts'
import { makePrinter } from './print.ts'

/** What every flavour gets: where to print, what is closed at the end, and the sign to stop. */
export interface Stage {
  readonly print: Printer
  readonly leftovers: Leftovers
  /** Fires when the user has had enough. */
  readonly stop: AbortSignal
}

/** More than any part takes to stop. */
const CLEAR_DEADLINE_MS = 20_000

/**
 * Runs a flavour of the demo to its end, or to Ctrl-C or another signal to end, and clears everything away. Answers one sentence where
 * something went wrong.
 * @throws WrongSetting where a program is missing, before anything is started
 */
export async function run(flavour: Flavour): Promise<string | undefined> {
  requirePrograms(process.env['PATH'])
  const leftovers = makeLeftovers()
  const stage = { print: makePrinter(process.stdout, process.env), leftovers, stop: interruption() }
  try {
    return await play(flavour, stage)
  } finally {
    await leftovers.clear(CLEAR_DEADLINE_MS)
  }
}

async function play(flavour: Flavour, stage: Stage): Promise<string | undefined> {
  const stopped = until(stage.stop).then(
    () => 'The demo was stopped before its end, and everything is cleared away.',
  )
  if (flavour.run === 'memory') return Promise.race([runInMemory(stage), stopped])
  const running = await Promise.race([runOnCluster(stage), stopped])
  if (typeof running === 'string') return running
  if (flavour.keep) await follow(running, stage)
  else stage.print.line('\nNext: npm run demo -- --cluster --keep stays up for your own kubectl apply.')
  return undefined
}

/** Fires at the first signal; those that follow (npm sends Ctrl-C once more) do not disturb the clearing. */
function interruption(): AbortSignal {
  const unread = new AbortController()
  // Whoever read what is printed has gone.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => unread.abort())
  return AbortSignal.any([stopSignal(), unread.signal])
}
