import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

/** By which key, and with which digest as node:crypto names it; null: the algorithm has its own. */
export interface RawSigning {
  readonly privateKey: KeyObject
  readonly digest: string | null
}

/** Signatures take time by the cube of this: 2 ms with as many bits, and 35 ms with twice as many. */
const QUICK_BITS = 4096

/** Whether a signature by this key takes the processor for more than a few milliseconds. */
export function isSlowKey({ asymmetricKeyDetails }: KeyObject): boolean {
  return (asymmetricKeyDetails?.modulusLength ?? 0) > QUICK_BITS
}

/**
 * The signature of these bytes; for ECDSA two numbers of one length, one after the other. It is made and verified outside
 * the event loop.
 * @throws Error if the key makes none that is right, such as one of RSA whose factors are no primes
 */
export async function rawSignature(data: Buffer, { privateKey, digest }: RawSigning): Promise<Buffer> {
  const dsaEncoding = 'ieee-p1363'
  const made = await promisify(sign)(digest, data, { key: privateKey, dsaEncoding })
  const isRight = await promisify(verify)(
    digest,
    data,
    { key: createPublicKey(privateKey), dsaEncoding },
    made,
  )
  if (!isRight) throw new Error('The key made a signature that is wrong.')
  return made
}
