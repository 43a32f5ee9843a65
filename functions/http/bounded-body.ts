import { Readable } from 'node:stream'
import type { Release } from '../domain/network/budget.ts'
import { readBody } from '../domain/network/read-body.ts'

/** What a body may take of the memory. */
export interface BodyBounds {
  /** Maximum bytes of the body. */
  readonly most: number
  /** Takes bytes of a budget that all bodies share; throws if too few are left. */
  readonly take: (bytes: number) => Release
  /** What is kept of each piece, in order; default: all of it. */
  readonly shorten?: ((piece: Buffer) => Buffer) | undefined
}

/** A whole body. */
export interface BoundedBody {
  readonly bytes: Buffer
  /** Returns its bytes to the budget, when nobody reads it any more. */
  readonly release: Release
}

/** What one body has taken of the budget. */
export interface Taken {
  /** Takes more. False: the budget refuses. */
  readonly more: (bytes: number) => boolean
  /** Returns everything; a second call does nothing. */
  readonly release: Release
  /** Throws what the budget threw, if it has refused. */
  readonly throwRefusal: () => void
}

/** Nothing yet, of the budget that `take` stands for. */
export function takeFrom(take: BodyBounds['take']): Taken {
  const taken: Release[] = []
  const refusals: Error[] = []
  return {
    more(bytes) {
      try {
        taken.push(take(bytes))
        return true
      } catch (error) {
        refusals.push(error instanceof Error ? error : new Error('The budget refuses', { cause: error }))
        return false
      }
    },
    release() {
      for (const one of taken.splice(0)) one()
    },
    throwRefusal() {
      for (const refusal of refusals) throw refusal
    },
  }
}

/**
 * Reads a body into one buffer, for whose growth the budget is asked. Undefined: it is too large, or was cut into too
 * many pieces, and is destroyed.
 * @throws the error of the stream, and what `take` throws
 */
export async function readBounded(
  body: Readable,
  { most, take, shorten }: BodyBounds,
): Promise<BoundedBody | undefined> {
  const { more, release, throwRefusal } = takeFrom(take)
  const place = { take: more, complete: () => undefined, leave: release }
  const kept = shorten === undefined ? body : Readable.from(shortened(body, shorten), { objectMode: false })
  const bytes = await readBody(kept, { most, place })
  if (typeof bytes !== 'string') return { bytes, release }
  kept.destroy()
  body.destroy()
  throwRefusal()
  return undefined
}

async function* shortened(
  body: AsyncIterable<Buffer>,
  shorten: (piece: Buffer) => Buffer,
): AsyncGenerator<Buffer> {
  for await (const piece of body) {
    const kept = shorten(piece)
    if (kept.length > 0) yield kept
  }
}
