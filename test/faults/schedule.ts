import { createHash } from 'node:crypto'
import type { Exchange } from '../harness/git-exchange.ts'
import type { Fault } from '../harness/git-faults.ts'

/** One fault: what is killed, or how some requests are answered. */
export type PlannedFault =
  | { readonly at: 'function' | 'webhook' }
  | { readonly at: 'apiServer' | 'etcd'; readonly signal: 'SIGKILL' | 'SIGTERM' }
  | {
      readonly at: 'git'
      readonly fault: Fault
      readonly exchange: Exchange
      readonly repository: number
      readonly times: number
    }
  | {
      readonly at: 'host'
      readonly kind: HostFaultKind
      readonly repository: number
      readonly method: string
    }
  /** Another writer pushes. */
  | { readonly at: 'branch'; readonly repository: number }

export type HostFaultKind = 500 | 503 | 'silence' | 'lost answer'

/** A fault, and after how many applied resources it comes. */
export interface Planned {
  readonly after: number
  readonly fault: PlannedFault
}

/** How large a run is. */
export interface Sizes {
  readonly commits: number
  readonly pullRequests: number
  /** So many faults; those of `kinds` come in turn, in an order that the seed draws. */
  readonly faults: number
  readonly kinds: readonly Kind[]
  readonly repositories: number
}

export type Kind = keyof typeof KINDS

/** A draw: a whole number below `count`. */
type Draw = (count: number) => number

/** Everything that may fail. */
export const KINDS = {
  'function killed': () => ({ at: 'function' }),
  'webhook killed': () => ({ at: 'webhook' }),
  'API server killed': () => ({ at: 'apiServer', signal: 'SIGKILL' }),
  'API server stopped': () => ({ at: 'apiServer', signal: 'SIGTERM' }),
  'etcd killed': () => ({ at: 'etcd', signal: 'SIGKILL' }),
  'Git answers 500': gitFault({ kind: 'status', status: 500 }),
  'Git answers 503': gitFault({ kind: 'status', status: 503 }),
  'Git hangs': gitFault({ kind: 'hang' }),
  'Git cuts': gitFault({ kind: 'cut' }),
  'Git drops the answer': gitFault({ kind: 'lost' }),
  'host answers 500': hostFault(500),
  'host answers 503': hostFault(503),
  'host hangs': hostFault('silence'),
  'host drops the answer': hostFault('lost answer'),
  'other writer': (draw: Draw, repositories: number) => ({ at: 'branch', repository: draw(repositories) }),
} as const satisfies Readonly<Record<string, (draw: Draw, repositories: number) => PlannedFault>>

const EXCHANGES = ['upload-pack', 'receive-pack-refs', 'receive-pack'] as const
const METHODS = ['GET', 'POST'] as const

function gitFault(fault: Fault): (draw: Draw, repositories: number) => PlannedFault {
  return (draw, repositories) => ({
    ...{ at: 'git', fault, repository: draw(repositories), times: 1 + draw(2) },
    // Only a push has an answer that matters once it is lost.
    exchange: fault.kind === 'lost' ? 'receive-pack' : (EXCHANGES[draw(EXCHANGES.length)] ?? 'receive-pack'),
  })
}

function hostFault(kind: HostFaultKind): (draw: Draw, repositories: number) => PlannedFault {
  return (draw, repositories) => ({
    ...{ at: 'host', kind, repository: draw(repositories) },
    method: METHODS[draw(METHODS.length)] ?? 'POST',
  })
}

/** The faults of this seed, in their order: the same for the same sizes. */
export function scheduleOf(seed: string, sizes: Sizes): readonly Planned[] {
  const { commits, pullRequests, faults, kinds, repositories } = sizes
  let draws = 0
  function draw(count: number): number {
    draws += 1
    return createHash('sha256').update(`${seed} ${draws}`).digest().readUInt32BE() % count
  }
  const left: Kind[] = []
  function nextKind(): Kind {
    if (left.length === 0) left.push(...kinds)
    return left.splice(draw(left.length), 1)[0] ?? 'function killed'
  }
  return Array.from({ length: faults }, () => ({
    after: draw(commits + pullRequests),
    fault: KINDS[nextKind()](draw, repositories),
  })).toSorted((one, other) => one.after - other.after)
}
