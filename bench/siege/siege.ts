import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { leash } from '../../test/harness/leash.ts'
import type { Order } from './attacker.ts'
import type { Site } from './site.ts'

/**
 * In a cluster attackers and their servers have machines of their own. Here they get the processors that nobody else
 * wants at that moment (sched(7)), with all their threads and children.
 */
export const NICE = 19
const READY_MS = 60_000
const END_MS = 8_000

/** What an attack did, in its own words. */
export interface Deed {
  readonly name: string
  readonly deed: string
}

/** Attackers that are ready. */
export interface Besiegers {
  readonly begin: () => void
  /** Ends all of them, and returns what each did. */
  readonly stop: () => Promise<readonly Deed[]>
}

/** Starts a process for each attack of the site and waits until all are ready. */
export async function recruit({ plane, orders }: Pick<Site, 'plane' | 'orders'>): Promise<Besiegers> {
  const attackers = await Promise.all(orders.map((order) => start(order, plane.kubeconfig)))
  return {
    begin: () => attackers.forEach(({ begin }) => begin()),
    stop: () => Promise.all(attackers.map(({ stop }) => stop())),
  }
}

/**
 * The kernel divides the processors among sessions first, and only then by nice (sched(7), "The autogroup feature"): what
 * attackers in our session take would be missing for everything else there. They have a session of their own, which is
 * as nice.
 */
function leaveProcessors(pid: number): void {
  const file = `/proc/${pid}/autogroup`
  if (existsSync(file)) writeFileSync(file, String(NICE))
}

async function start(order: Order, kubeconfig: string) {
  const command = ['-n', String(NICE), process.execPath, join(import.meta.dirname, 'attacker.ts')]
  const child = spawn('nice', command, {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  const { pid = 0 } = child
  const untie = leash(pid)
  leaveProcessors(pid)
  const lines: string[] = []
  const output = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  const gone = once(child, 'close')
  child.stdin.on('error', () => undefined)
  await Promise.race([once(output, 'line', { signal: AbortSignal.timeout(READY_MS) }), gone])
  const begin = (): void => void child.stdin.write(`${JSON.stringify(order)}\n`)
  async function stop(): Promise<Deed> {
    child.stdin.end()
    const timer = setTimeout(() => child.kill('SIGKILL'), END_MS)
    await gone
    clearTimeout(timer)
    untie()
    return { name: order.name, deed: lines[1] ?? 'ended without a word' }
  }
  return { begin, stop }
}
