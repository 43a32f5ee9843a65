import { applyDelta } from './apply-delta.ts'
import { startHash, type GitObject, type ObjectId, type ObjectKind } from './object.ts'
import { updateHash, type Pace } from './pace.ts'
import type { DeltaEntry, PackEntry } from './pack-entries.ts'
import { brokenPack, type Budget, type ReadPackOptions } from './pack-options.ts'

/** How the objects of one pack are made. */
export interface Resolving extends Pick<ReadPackOptions, 'base' | 'limits'> {
  readonly budget: Budget
  readonly pace: Pace
}

/**
 * Makes the objects of all entries, in their order. Walks from the bases to their deltas without recursion, so that
 * every delta is applied once and a circle is never entered.
 * @throws Failure ProviderUnavailable for a delta that is broken, has no base or is in too long a chain; what `budget`
 *   throws for its size
 */
export async function resolveDeltas(
  entries: readonly PackEntry[],
  resolving: Resolving,
): Promise<readonly GitObject[]> {
  const waiting: Walk['waiting'] = new Map()
  const made: Walk['made'] = new Map()
  for (const entry of entries) {
    if (entry.kind === 'delta') await wait(waiting, entry, resolving.pace)
    else made.set(entry.at, await named(entry.kind, entry.body, resolving.pace))
  }
  const whole = Array.from(made, ([at, object]) => ({ at, object, depth: 0 }))
  await walk({ roots: whole, waiting, made }, resolving)
  // What is left has its base outside, or nowhere.
  await walk({ roots: await thinBases(waiting, resolving), waiting, made }, resolving)
  return entries.map(({ at }) => {
    const object = made.get(at)
    if (object === undefined) throw brokenPack('a delta has no base')
    return object
  })
}

/** A base whose deltas can be applied. */
interface Found {
  /** Its place in the pack; undefined: it is not in the pack. */
  readonly at: number | undefined
  readonly object: GitObject
  /** Number of deltas that made it. */
  readonly depth: number
}

interface Walk {
  readonly roots: readonly Found[]
  /** Deltas by their base. */
  readonly waiting: Map<number | ObjectId, DeltaEntry[]>
  /** Objects by their place in the pack. */
  readonly made: Map<number, GitObject>
}

async function walk({ roots, waiting, made }: Walk, resolving: Resolving): Promise<void> {
  const found = [...roots]
  for (const base of found)
    for (const delta of takeWaiting(waiting, base)) {
      const object = await applied(base, delta, resolving)
      made.set(delta.at, object)
      found.push({ at: delta.at, object, depth: base.depth + 1 })
    }
}

function takeWaiting(waiting: Walk['waiting'], { at, object }: Found): readonly DeltaEntry[] {
  const keys = at === undefined ? [object.id] : [at, object.id]
  const deltas = keys.flatMap((key) => waiting.get(key) ?? [])
  for (const key of keys) waiting.delete(key)
  return deltas
}

async function wait(waiting: Walk['waiting'], delta: DeltaEntry, pace: Pace): Promise<void> {
  const deltas = waiting.get(delta.base)
  if (deltas === undefined) waiting.set(delta.base, [delta])
  else deltas.push(delta)
  await pace(0)
}

/** A server invents as many bases as a pack has room for. */
async function thinBases(waiting: Walk['waiting'], { base, pace }: Resolving): Promise<readonly Found[]> {
  const found: Found[] = []
  for (const id of waiting.keys()) {
    const object = typeof id === 'string' ? base(id) : undefined
    if (object !== undefined) found.push({ at: undefined, object, depth: 0 })
    await pace(0)
  }
  return found
}

async function applied(base: Found, { body }: DeltaEntry, resolving: Resolving): Promise<GitObject> {
  const { limits, budget, pace } = resolving
  if (base.depth >= limits.deltaDepth) throw brokenPack('a chain of deltas is too long')
  const steps = applyDelta(base.object.body, body, budget)
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) await pace(step.value)
  return named(base.object.kind, step.value, pace)
}

async function named(kind: ObjectKind, body: Buffer, pace: Pace): Promise<GitObject> {
  const hash = startHash(kind, body.length)
  await updateHash(hash, body, pace)
  return { kind, id: hash.digest('hex'), body }
}
