import { openFairTurns } from '../../fair-turns.ts'
import type { World } from '../../world.ts'

/**
 * One signature at a time, and beside it one of a slow key: OpenSSL makes them in threads of its own, of which there are many,
 * and each of RSA with 8192 bits takes the processor for 35 ms or more. Next is the namespace that has taken the least time.
 */
export function shareSigning(): World['shareSigner'] {
  const [quick, slow] = [openFairTurns(), openFairTurns()]
  // Who gives up does not fail the push of the others.
  const { signal } = new AbortController()
  return function shareSigner(namespace, signer) {
    const inTurn = signer.isSlow === true ? slow : quick
    return { ...signer, sign: (commit) => inTurn(namespace, signal, () => signer.sign(commit)) }
  }
}
