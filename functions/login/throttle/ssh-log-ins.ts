import { createHash } from 'node:crypto'
import type { GuardLogIn } from '../../git/ssh/sessions.ts'
import { makeLoginThrottle } from './login-throttle.ts'

/**
 * Bounds the log-ins of a namespace that fail at the addresses of an SSH server (login-throttle.ts), whatever name and host keys
 * of it are written. `failedLogins`: FAILED_LOGINS. `elapsed` is in milliseconds of a clock that is never set.
 */
export function guardSSHLogIns(failedLogins: number, elapsed: () => number): GuardLogIn {
  const throttle = makeLoginThrottle(failedLogins, elapsed)
  return function guardLogIn({ address, addresses, login, signal }, work) {
    const { namespace, identity } = login
    const { host, port, text } = address
    const servers = addresses.map((one) => `${one} ${port}`)
    // One that works at a server of the tenant must not open the way to somebody else's.
    const at = createHash('sha256')
      .update(JSON.stringify([text, addresses.toSorted()]))
      .digest('hex')
    return throttle.run({ namespace, host, servers, login: identity, at, shared: undefined, signal }, work)
  }
}
