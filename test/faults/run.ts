import type { Test } from 'tap'
import type { ControlPlane } from '../harness/control-plane.ts'
import type { Stored } from '../harness/installation.ts'
import { waitFor } from '../harness/wait.ts'
import { findings } from './audit.ts'
import { makeInjector } from './inject.ts'
import { scheduleOf, type Sizes } from './schedule.ts'
import { openSite, ordersOf, type Order, type Site } from './site.ts'

/** How a run ended. */
export interface FaultRun {
  /** One sentence for each resource that is lost or double, or has not succeeded. */
  readonly findings: readonly string[]
  readonly faults: number
  /** From the first apply to the last one, and from the last fault until everything had succeeded. */
  readonly applySeconds: number
  readonly secondsAfterLastFault: number
}

const MINUTE = 60_000
/** Resources that are applied at once. */
const APPLYING = 8
/** How many more are applied while a fault lasts. */
const AHEAD = 16
/** How long a run waits for its end, which is promised within a minute. */
const END_MS = 5 * MINUTE
const PLURALS = ['gitcommits', 'pullrequests'] as const

/** Applies everything while the faults of the seed happen, and waits until it has succeeded. */
export async function runFaults(
  t: Pick<Test, 'teardown'>,
  plane: ControlPlane,
  {
    seed,
    sizes,
    say,
  }: { readonly seed: string; readonly sizes: Sizes; readonly say: (line: string) => void },
): Promise<FaultRun> {
  const site = await openSite(t, plane, sizes)
  const orders = await ordersOf(site, sizes)
  const injector = makeInjector(site)
  const planned = scheduleOf(seed, sizes)
  const began = performance.now()
  const progress: Progress = { applied: 0, nextFault: planned[0]?.after ?? Infinity }
  let lastFaultAt = began
  const applying = applyAll(orders, progress)
  await injectAll()
  await applying
  const appliedAt = performance.now()
  const unfinished = await waitForEnd(site)
  const secondsAfterLastFault = (performance.now() - lastFaultAt) / 1000
  return {
    findings: [...unfinished, ...(await findings(site, orders, injector))],
    faults: planned.length,
    applySeconds: (appliedAt - began) / 1000,
    secondsAfterLastFault,
  }

  async function injectAll(): Promise<void> {
    for (const [index, { after, fault }] of planned.entries()) {
      progress.nextFault = after
      const isTime = (): true | undefined => progress.applied >= after || undefined
      await waitFor(`apply of resource ${after}`, isTime, END_MS)
      say(`after ${progress.applied}, ${secondsSince(began)} s: ${JSON.stringify(fault)}`)
      await injector.inject(fault)
      lastFaultAt = performance.now()
      if (index === planned.length - 1) injector.clear()
    }
    progress.nextFault = Infinity
  }
}

interface Progress {
  applied: number
  /** After how many the next fault comes. */
  nextFault: number
}

function secondsSince(from: number): string {
  return ((performance.now() - from) / 1000).toFixed(1)
}

/** Applies them; not far beyond the next fault, so that there is work while each lasts. */
async function applyAll(orders: readonly Order[], progress: Progress): Promise<void> {
  const left = [...orders]
  const mayApply = (): true | undefined => progress.applied < progress.nextFault + AHEAD || undefined
  async function applyNext(): Promise<void> {
    for (let order = left.shift(); order !== undefined; order = left.shift()) {
      await waitFor('next fault', mayApply, END_MS)
      const { object, place, name } = order
      // The webhook or the API server may be gone.
      const apply = () =>
        place.team.apply(object).then(
          () => true as const,
          () => undefined,
        )
      await waitFor(`admission of ${name}`, apply, END_MS)
      progress.applied += 1
    }
  }
  await Promise.all(Array.from({ length: APPLYING }, applyNext))
}

/** Waits until all have succeeded; a sentence for each that has not after the longest wait. */
async function waitForEnd({ plane }: Site): Promise<readonly string[]> {
  async function unfinished(): Promise<readonly Stored[]> {
    const query = `?fieldSelector=${encodeURIComponent('status.phase!=Succeeded')}`
    const lists = await Promise.all(
      PLURALS.map((plural) => plane.api.need('GET', `/apis/commitlet.dev/v1/${plural}${query}`)),
    )
    return lists.flatMap((list) => (list as { readonly items: readonly Stored[] }).items)
  }
  // The API server begins to list a moment after it is ready.
  const done = () =>
    unfinished().then(
      (left) => left.length === 0 || undefined,
      () => undefined,
    )
  await waitFor('end of all', done, END_MS).catch(() => undefined)
  return (await unfinished()).map(
    ({ metadata, status }) =>
      `${String(metadata['namespace'])}/${metadata.name} has not succeeded: ${JSON.stringify(status)}`,
  )
}
