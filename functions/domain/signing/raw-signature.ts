import { createPublicKey, sign, verify, type KeyObject } from 'node:crypto'
import { promisify } from 'node:util'

/** By which key, and with which digest as node:crypto names it; null: the algorithm has its own. */
export interface RawSigning {
  readonly privateKey: KeyObject
  readonly digest: string | null
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
