import type { Readable } from 'node:stream'
import type { Release } from '../domain/network/body-budget.ts'

/** What a body may take of the memory. */
export interface BodyBounds {
  /** Maximum bytes of the body. */
  readonly most: number
  /** Takes bytes of a budget that all bodies share; throws if too few are left. */
  readonly take: (bytes: number) => Release
}

/** A whole body. */
export interface BoundedBody {
  readonly bytes: Buffer
  /** Returns its bytes to the budget, when nobody reads it any more. */
  readonly release: Release
}

const SMALLEST = 16 * 1024

/**
 * Reads a body into one buffer, which grows as bytes arrive: a server can cut it into chunks of one byte, and each chunk
 * that is kept would cost some 450 bytes. Undefined: it is too large, and is destroyed.
 * @throws the error of the stream, and what `take` throws
 */
export async function readBounded(
  body: Readable,
  { most, take }: BodyBounds,
): Promise<BoundedBody | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<BoundedBody | undefined>()
  let room = Buffer.alloc(0)
  let length = 0
  let release: Release = () => undefined

  function grow(needed: number): boolean {
    if (needed > most) return false
    const size = Math.min(most, Math.max(SMALLEST, needed, room.length * 2))
    const taken = take(size)
    const larger = Buffer.allocUnsafeSlow(size)
    room.copy(larger, 0, 0, length)
    room = larger
    release()
    release = taken
    return true
  }

  function append(chunk: Buffer): void {
    if (length + chunk.length <= room.length || grow(length + chunk.length)) {
      length += chunk.copy(room, length)
      return
    }
    resolve(undefined)
    body.destroy()
  }

  body.on('data', (chunk: Buffer) => {
    try {
      append(chunk)
    } catch (error) {
      reject(error instanceof Error ? error : new Error('The budget refuses', { cause: error }))
      body.destroy()
    }
  })
  body.on('end', () => resolve({ bytes: room.subarray(0, length), release }))
  body.on('error', reject)
  body.on('close', () => resolve(undefined))
  try {
    const whole = await promise
    if (whole === undefined) release()
    return whole
  } catch (error) {
    release()
    throw error
  }
}
