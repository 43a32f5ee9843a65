import { parseArgs } from 'node:util'
import { makeLocalStates } from './parts/local-states.ts'
import { installVirtualTime } from '../harness/virtual-time.ts'
import { makePods, type PodSettings } from './pods.ts'
import { NO_FAULTS, printed, readSchedule, replay } from './schedule.ts'
import { searchAll } from './search.ts'
import { makeSystem, type Bounds } from './system.ts'

const USAGE = `npm run model -- [--FAULT=NUMBER...] [--asks=create,spec,request,suspend,resume,withdraw,back] [--clocks-differ] [--restores] [--patient]
npm run model -- --replay='LINE'
  FAULT  crashes, freezes, holds, losses, lostEvents, doubles, others: how often each may happen
  restores  the branch holds at the beginning what the second spec asks for
  patient  the user asks only where nobody is at work, and also after retries
  LINE   a schedule, as a search prints it
`
const FAULTS = ['crashes', 'freezes', 'holds', 'losses', 'lostEvents', 'doubles', 'others'] as const
const ASKS = ['create', 'spec', 'request', 'suspend', 'resume', 'withdraw', 'back'] as const

/** Searches all states within the bounds of its arguments, or makes a printed schedule again. */
async function main(): Promise<number> {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    options: {
      ...{ crashes: text, freezes: text, holds: text, losses: text, lostEvents: text, doubles: text },
      ...{
        others: text,
        asks: text,
        replay: text,
        help: { type: 'boolean' },
        'clocks-differ': { type: 'boolean' },
        restores: { type: 'boolean' },
        patient: { type: 'boolean' },
      },
    },
  })
  if (values.help === true) return say(USAGE, 0)
  installVirtualTime()
  if (values.replay !== undefined) {
    const broken = await replay(readSchedule(values.replay))
    return say(broken === undefined ? 'All holds.' : `Broken: ${broken}`, broken === undefined ? 0 : 1)
  }
  const asks = (values.asks ?? 'create').split(',').flatMap((name) => ASKS.filter((ask) => ask === name))
  const faults = Object.fromEntries(FAULTS.map((name) => [name, Number(values[name] ?? 0)]))
  const { restores = false, patient = false } = values
  const bounds: Bounds = { ...NO_FAULTS, ...faults, asks, restores, patient }
  const settings: PodSettings = { breakage: 'none', clocksDiffer: values['clocks-differ'] === true }
  const { broken, ...figures } = await searchAll(makeSystem(makePods(makeLocalStates(), settings)), bounds)
  const cpuSeconds = Math.round(process.cpuUsage().user / 1e6)
  say(JSON.stringify({ ...figures, cpuSeconds }), 0)
  if (broken === undefined) return say('All holds.', 0)
  return say(`Broken: ${broken.promise}\n${printed({ settings, bounds, steps: broken.schedule })}`, 1)
}

function say<T>(line: string, code: T): T {
  process.stdout.write(`${line.trimEnd()}\n`)
  return code
}

process.exitCode = await main()
