import { countExcess, FEW } from '../../domain/sharing/taken-time.ts'
import { openFairTurns, TURN_MS, type FairTurns } from '../../fair-turns.ts'
import type { World } from '../../world.ts'

/**
 * One signature at a time, and beside it one of a slow key: OpenSSL makes them in threads of its own, of which there are many,
 * and each of RSA with 8192 bits takes the processor for 35 ms or more, and 0.3 s where its factors are no primes. Next is the namespace
 * that has taken the least time: also ten that sign all the time are known by what they have taken. `elapsed`: milliseconds of a
 * clock that is never set.
 */
export function shareSigning(elapsed: () => number = () => performance.now()): World['shareSigner'] {
  const openTurns = (): FairTurns => openFairTurns(TURN_MS, elapsed, countExcess(FEW, elapsed))
  const [quick, slow] = [openTurns(), openTurns()]
  // Who gives up does not fail the push of the others.
  const { signal } = new AbortController()
  return function shareSigner(namespace, signer) {
    const inTurn = signer.isSlow === true ? slow : quick
    return { ...signer, sign: (commit) => inTurn(namespace, signal, () => signer.sign(commit)) }
  }
}
