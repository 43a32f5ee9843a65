import type { KeyObject } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { handle } from '../../functions/attempt/attempt.ts'
import { paceFailing } from '../../functions/attempt/failing-pace.ts'
import { finder } from '../../functions/attempt/find.ts'
import type { Failure } from '../../functions/domain/failure.ts'
import { openLooks } from '../../functions/looks/looks.ts'
import type { OpenLooks } from '../../functions/looks/looks.ts'
import type { ObjectRef } from '../../functions/domain/resource/resource.ts'
import type { Status } from '../../functions/domain/resource/stored-status.ts'
import { gitCommit, memoryWorld } from '../harness/memory-world.ts'
import type { MemoryWorld } from '../harness/memory-world.ts'

const START = Date.parse('2026-03-01T10:00:00Z')
const TICK_MS = 100

/** A world in memory whose clock only moves when a test says so, and which looks. */
export interface LookingWorld {
  readonly world: MemoryWorld
  readonly looks: OpenLooks
  /** The names of the objects that were looked at, in order, with the time in seconds. */
  readonly looked: (readonly [name: string, at: number])[]
  /** The names of the resources that were read. */
  readonly read: string[]
  /** While it is set, nothing can be looked at. */
  failing: Failure | undefined
  readonly apply: (name: string, spec?: Readonly<Record<string, unknown>>, namespace?: string) => void
  readonly send: (name: string, namespace?: string) => Promise<void>
  readonly advance: (seconds: number) => Promise<void>
  readonly status: (name: string, namespace?: string) => Status
  readonly isTicking: () => boolean
}

/** What a test wants of the world: `isPaced`: what fails has its pace, by the same clock, which `send` waits for as well. */
interface Wanted {
  readonly stampKey?: KeyObject
  readonly isPaced?: boolean
}

/** A GitCommit of this name refers to the ConfigMap of its name. */
export function lookingWorld({ stampKey, isPaced = false }: Wanted = {}): LookingWorld {
  const base = memoryWorld()
  let ms = 0
  let tick: (() => void) | undefined
  const now = (): Date => new Date(START + ms)
  const looked: [string, number][] = []
  const read: string[] = []
  const { cluster } = base
  const { ...original } = cluster
  Object.assign(cluster, {
    now,
    readResource(ref: ObjectRef) {
      read.push(ref.name)
      return original.readResource(ref)
    },
    async readVersion(...of: Parameters<MemoryWorld['cluster']['readVersion']>) {
      looked.push([of[0].name, ms / 1000])
      if (stage.failing !== undefined) throw stage.failing
      return original.readVersion(...of)
    },
  })
  const find = finder(cluster, { reads: 8, waits: 0 })
  const looks = openLooks({
    ...{ cluster, now, stampKey, log: base.log },
    elapsed: () => ms,
    wake: (ref, awaited) => handle(ref, find, world, awaited),
    every(_, work) {
      tick = work
      return () => (tick = undefined)
    },
  })
  const waits = new Map<() => void, number>()
  const pace = paceFailing({
    elapsed: () => ms,
    wait: (milliseconds) => new Promise<void>((end) => waits.set(end, ms + milliseconds)),
  })
  const inPace: MemoryWorld['inPace'] = isPaced ? pace.inPace : (_, work) => work(() => undefined)
  const settings = { ...base.settings, stampKey }
  const world: MemoryWorld = {
    ...{ ...base, now, looks, settings, inPace },
    // Pushes are kept and decided in the world that a test has.
    push(change, login, { signal }) {
      world.pushed.push({ change, login, signal })
      return world.land({ change, login, signal })
    },
  }

  async function advance(seconds: number): Promise<void> {
    for (let ticks = 0; ticks < seconds * (1000 / TICK_MS); ticks += 1) {
      ms += TICK_MS
      tick?.()
      await settled()
      for (const [end, until] of waits) {
        if (until > ms) continue
        waits.delete(end)
        end()
      }
      await settled()
    }
  }

  const stage: LookingWorld = {
    ...{ world, looks, looked, read, failing: undefined, advance, isTicking: () => tick !== undefined },
    apply(name, spec = {}, namespace = 'team') {
      const { metadata, ...rest } = gitCommit({
        resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name, path: 'shop/settings.yaml' },
        ...spec,
      })
      base.cluster.apply({ ...rest, metadata: { ...metadata, name, namespace } })
    },
    send: (name, namespace = 'team') => handle({ kind: 'GitCommit', namespace, name }, find, world),
    status(name, namespace = 'team') {
      const status: unknown = base.cluster.get('GitCommit', namespace, name)?.status
      return Object(status)
    },
  }
  return stage
}

/** Work that needs no timer has ended after some turns of the event loop: of a busy machine, more than of a quiet one. */
export async function settled(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await setImmediate()
}

/** A ConfigMap or a Secret for a memory cluster. */
export function object(kind: 'ConfigMap' | 'Secret', name: string, value = 'blue', namespace = 'team') {
  const content = kind === 'Secret' ? { stringData: { token: value } } : { data: { colour: value } }
  return { apiVersion: 'v1', kind, metadata: { name, namespace }, ...content }
}
