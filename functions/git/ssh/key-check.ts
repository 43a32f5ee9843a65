import { createPrivateKey } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { KeyLogin } from '../../domain/credentials/login.ts'
import { Failure } from '../../domain/failure.ts'
import type { RepositoryAddress } from '../../domain/repository/address.ts'
import { openFairQueue, type FairQueue } from '../../domain/sharing/fair-queue.ts'
import { countExcess, FEW } from '../../domain/sharing/taken-time.ts'
import { isSlowKey, rawSignature } from '../../domain/signing/raw-signature.ts'
import { stopIfAborted } from '../process/launcher.ts'

/**
 * Returns once the key of the login is known to sign as it should.
 * @throws Failure CredentialsInvalid if it does not; Timeout when the signal fires first
 */
export type CheckKey = (login: CheckedLogin, address: RepositoryAddress, signal: AbortSignal) => Promise<void>

type CheckedLogin = Pick<KeyLogin, 'namespace' | 'identity' | 'privateKey'>

/** How readPrivateKey writes keys of RSA, and no others. */
const RSA = '-----BEGIN RSA PRIVATE KEY-----'
/** Most logins of which it is known. */
const MOST_KNOWN = 10_000

/**
 * Has each RSA key sign once. With factors that are no primes, which nothing else shows, a signature takes five times as long
 * (0.3 s with 8,192 bits) and is wrong. One is made at a time, and beside it one of a slow key; next is the namespace that has
 * taken the least time. What keys of other types sign with has been computed when they were read.
 */
export function openKeyCheck(
  sign: typeof rawSignature = rawSignature,
  elapsed: () => number = () => performance.now(),
): CheckKey {
  const known = new LRUCache<string, boolean>({ max: MOST_KNOWN })
  const openQueue = (): FairQueue => openFairQueue(1, { elapsed, taken: countExcess(FEW, elapsed) })
  const [quick, slow] = [openQueue(), openQueue()]

  async function isRight(
    { namespace, identity, privateKey: pem }: CheckedLogin,
    signal: AbortSignal,
  ): Promise<boolean> {
    const privateKey = createPrivateKey(pem)
    const queue = isSlowKey(privateKey) ? slow : quick
    const release = await queue.enter(namespace, signal)
    try {
      const found = known.get(identity)
      if (found !== undefined) return found
      const data = Buffer.from('Commitlet')
      const right = await sign(data, { privateKey, digest: 'sha256' }).then(
        () => true,
        () => false,
      )
      known.set(identity, right)
      return right
    } finally {
      release()
    }
  }

  return async function checkKey(login, { text }, signal) {
    if (!login.privateKey.startsWith(RSA)) return
    const right =
      known.get(login.identity) ?? (await isRight(login, signal).catch(() => stopIfAborted(signal)))
    if (right === true) return
    const message = `The private key for ${text} cannot be used; put the key file into the Secret again.`
    throw new Failure('CredentialsInvalid', message)
  }
}
