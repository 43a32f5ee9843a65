import type { Clock } from './clock.ts'
import type { Program } from './processor.ts'
import type { Counts, Host, HostSettings, Work } from './world.ts'

export const MINUTE_MS = 60_000

interface Outside {
  readonly clock: Clock
  readonly counts: Counts
  /** The host's own machine. */
  readonly program: Program
}

/** A Git host. A push moves the branch only if its tip is still the lease when the host has received all of it. */
export function makeHost({ clock, counts, program }: Outside, settings: HostSettings): Host {
  const tips = new Map<string, number>()
  const inMinute = new Map<string, number>()
  let mostPerMinute = 0

  function exchange({ trips, hostMs }: Work, done: () => void): void {
    counts.gitRequests += trips
    clock.after(trips * settings.tripMs, () => program.run(hostMs, done))
  }

  function isRefused(branch: string): boolean {
    const key = `${branch} ${Math.floor(clock.now() / MINUTE_MS)}`
    const pushes = (inMinute.get(key) ?? 0) + 1
    inMinute.set(key, pushes)
    mostPerMinute = Math.max(mostPerMinute, pushes)
    return pushes > (settings.pushesPerMinute ?? Infinity)
  }

  return {
    read(branch, work, done) {
      exchange(work, () => done(tips.get(branch) ?? 0))
    },
    push(branch, { lease, ...work }, done) {
      counts.pushes += 1
      if (isRefused(branch)) {
        counts.refusedPushes += 1
        exchange({ ...work, hostMs: 0 }, () => done('refused'))
        return
      }
      exchange(work, () => {
        const isMoved = (tips.get(branch) ?? 0) !== lease
        if (isMoved) counts.lostRaces += 1
        else tips.set(branch, lease + 1)
        done(isMoved ? 'lost' : 'landed')
      })
    },
    mostPerMinute: () => mostPerMinute,
  }
}
