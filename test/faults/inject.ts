import { waitFor } from '../harness/wait.ts'
import type { HostFault } from '../harness/hosts/host-handler.ts'
import type { HostFaultKind, PlannedFault } from './schedule.ts'
import type { Place, Site } from './site.ts'

const MINUTE = 60_000
/** The path of the other writers, which no resource names. */
const FOREIGN = 'foreign/note.txt'

/** Makes the faults of a run happen, and counts what other writers have pushed. */
export interface Injector {
  /** Resolves once the fault is over, or is planned for the next request that it fits. */
  readonly inject: (fault: PlannedFault) => Promise<void>
  /** Commits of other writers, by the index of the place. */
  readonly foreign: ReadonlyMap<number, readonly string[]>
  /** Faults of servers that no request has met so far are taken back. */
  readonly clear: () => void
}

/** Faults for this site. */
export function makeInjector(site: Site): Injector {
  const { commitlet, places, plane, programs } = site
  const foreign = new Map<number, string[]>()

  async function inject(fault: PlannedFault): Promise<void> {
    if ('signal' in fault) return plane.restart(fault.at, { signal: fault.signal })
    if (!('repository' in fault)) return replace(fault.at)
    const place = places[fault.repository]
    if (place === undefined) return
    if (fault.at === 'branch') return write(place, fault.repository)
    if (fault.at === 'host') {
      place.hosted.api.fail(hostFaultOf(fault.kind), (method) => method === fault.method)
      return
    }
    const { exchange, times } = fault
    commitlet.git.faults.add(fault.fault, { repository: place.repository.name, exchange, times })
  }

  async function replace(part: 'function' | 'webhook'): Promise<void> {
    await programs[part].kill()
    // It needs the API server, which may be gone, too.
    programs[part] = await (part === 'function' ? commitlet.startFunction() : commitlet.startWebhook())
  }

  async function write({ repository }: Place, index: number): Promise<void> {
    const written = foreign.get(index) ?? []
    const subject = `foreign-${index}-${written.length}`
    foreign.set(index, [...written, subject])
    const push = () =>
      repository.commit('main', { [FOREIGN]: subject }, subject).catch((error: unknown) => {
        // The tip has moved meanwhile.
        if (String(error).includes('fast-import')) return undefined
        throw error
      })
    await waitFor('push of another writer', push, MINUTE)
  }

  return {
    inject,
    foreign,
    clear() {
      commitlet.git.faults.clear()
      for (const { hosted } of places) hosted.api.forget()
    },
  }
}

function hostFaultOf(kind: HostFaultKind): HostFault {
  if (kind === 'silence' || kind === 'lost answer') return { kind }
  return { kind: 'answer', answer: { status: kind, body: { message: 'Try again later' } } }
}
