import { writtenReferences } from '../domain/commit/references.ts'
import { heapSize } from '../domain/network/heap-size.ts'
import { refOf } from '../domain/resource/envelope.ts'
import type { Envelope, ObjectRef } from '../domain/resource/resource.ts'
import type { Holder, World } from '../world.ts'
import type { Claimable, Newer } from './claim.ts'

/** Most that is kept of a resource while its attempt waits for a turn, in bytes; nearly all take less. A thousand may wait. */
const KEPT_BYTES = 64 * 1024

/** An attempt that waits for its turn. A spec of 100 KB may take 3 MiB in memory: then nothing is kept of it but what is here. */
export interface WaitingAttempt {
  readonly ref: ObjectRef & Pick<Envelope['metadata'], 'uid' | 'generation'>
  /** What its turn counts towards. */
  readonly share: Pick<Holder, 'namespace' | 'host' | 'objects' | 'bytes'>
  /** What it pushes to, if it is a commit. */
  readonly push: Parameters<World['expect']>[0] | undefined
  /** As of a Claimable, and of a Newer. */
  readonly awaited: string | undefined
  readonly heldBefore: Envelope | undefined
  /** The resource; undefined where it takes too much: it is read again, once it is its turn. */
  readonly found: Claimable | undefined
}

/** What of this attempt waits for its turn. Who calls this must not keep the resource either. */
export function waitingFor({ newer, heldBefore }: Newer): WaitingAttempt {
  const { envelope, parsed, awaited } = newer
  const { namespace, uid, generation } = envelope.metadata
  const commit = parsed.sound && parsed.kind === 'GitCommit' ? parsed : undefined
  const size = heapSize([envelope, parsed.spec, parsed.fieldErrors])
  const isKept = size <= KEPT_BYTES
  return {
    ref: { ...refOf(envelope), uid, generation },
    share: {
      namespace,
      host: parsed.target?.address.host ?? '',
      objects: commit === undefined ? 1 : writtenReferences(commit.spec).length,
      bytes: isKept ? 0 : size,
    },
    push: commit && { repository: commit.target.address, branch: commit.spec.branch, namespace },
    awaited,
    heldBefore,
    found: isKept ? newer : undefined,
  }
}

/** Whether the spec is the one that the attempt waited for: another one may need another share of the pod. */
export function isWaitedFor({ envelope }: Claimable, { ref }: WaitingAttempt): boolean {
  const { uid, generation } = envelope.metadata
  return uid === ref.uid && generation === ref.generation
}
