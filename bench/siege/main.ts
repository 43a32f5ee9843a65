import { cpus, getPriority, loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { stopSignal, until } from '../../test/harness/stop-signal.ts'
import { ATTACKS } from './attacks.ts'
import { applyHonestly } from './honest.ts'
import type { Measured } from './report.ts'
import { FLOOD, measureBareServer } from './bare-server.ts'
import { floorRow, report } from './report.ts'
import { NICE, recruit } from './siege.ts'
import type { Site } from './site.ts'
import { onSite } from './site.ts'

/** Discovery, connections and compiled code. */
const WARM_UP_SECONDS = 4

const { values } = parseArgs({
  options: {
    /** Of each of the two runs. */
    seconds: { type: 'string', default: '60' },
    /** Names of attacks, separated by commas; default: all. */
    only: { type: 'string', default: ATTACKS.map(({ name }) => name).join() },
  },
})
const seconds = Math.min(60, Number(values.seconds))
const attacks = ATTACKS.filter(({ name }) => values.only.split(',').includes(name))
if (attacks.length === 0) throw new Error(`--only takes some of ${ATTACKS.map(({ name }) => name).join()}.`)

void until(stopSignal()).then(() => process.exit(1))
say(`${seconds} s calm, then ${seconds} s with ${attacks.map(({ name }) => name).join(', ')}`)
say(`${cpus().length} cores, Node ${process.version}, load average ${loadavg()[0]?.toFixed(1)} at the start`)
say(`the attackers and their servers run at nice ${NICE}, everything else at nice ${getPriority()}`)
const outcome = await onSite(attacks, async (site) => {
  await measure(site, 'warm-up', WARM_UP_SECONDS)
  const calm = await measure(site, 'calm', seconds)
  say(`load average ${loadavg()[0]?.toFixed(1)} before the siege`)
  const besiegers = await recruit(site)
  besiegers.begin()
  const deeds = pause(seconds * 1000).then(besiegers.stop)
  const siege = await measure(site, 'siege', seconds)
  process.stdout.write(report(calm, siege, await deeds))
  if (attacks.some(({ name }) => name === FLOOD)) await measureFloor(site)
})
if (outcome !== undefined) say(`Not measured: ${outcome.missing}`)

async function measure({ plane, tenants, programs }: Site, run: string, seconds: number): Promise<Measured> {
  programs.function.take()
  programs.webhook.take()
  const applies = await applyHonestly(plane, tenants, { run, seconds })
  return { applies, programs: { function: programs.function.take(), webhook: programs.webhook.take() } }
}

/** What the machine and Node alone lose to the flood of events, which is their limit for the function as well. */
async function measureFloor(site: Site): Promise<void> {
  const probes = await measureBareServer(site, Math.min(10, seconds))
  say(floorRow(probes))
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
