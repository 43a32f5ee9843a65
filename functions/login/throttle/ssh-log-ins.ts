import { anySignal } from '../../domain/deadline.ts'
import type { GuardLogIn } from '../../git/ssh/sessions.ts'
import { digestOf } from '../../domain/credentials/digest.ts'
import { makeLoginThrottle } from './login-throttle.ts'
import { watchPenalties } from './server-penalties.ts'

/**
 * Bounds the log-ins of a namespace that fail at the addresses of an SSH server (login-throttle.ts), whatever name and host keys
 * of it are written, and all that fail there together (server-penalties.ts). `failedLogins`: FAILED_LOGINS. `elapsed` is in
 * milliseconds of a clock that is never set.
 */
export function guardSSHLogIns(failedLogins: number, elapsed: () => number): GuardLogIn {
  const throttle = makeLoginThrottle(failedLogins, elapsed)
  const penalties = watchPenalties(failedLogins, { elapsed })
  return async function guardLogIn({ address, addresses, login, signal }, open) {
    const { namespace, identity, hostKeys } = login
    const { host, port, text, user } = address
    const servers = addresses.map((one) => `${one} ${port}`)
    // One that works at a server of the tenant must not open the way to somebody else's.
    const at = digestOf(text, addresses.toSorted())
    const logIn = { namespace, host, servers, login: identity, at, shared: undefined, signal }
    // The host learns the path after the log-in; with other host keys there may be none.
    const connecting = { namespace, host, port, addresses, signal, login: digestOf(identity, user, hostKeys) }
    return throttle.run(logIn, (until) =>
      penalties.run(connecting, (address, { signal: givesWay, reached, begins }) =>
        open(address, { signal: anySignal([until, givesWay]), reached, begins }),
      ),
    )
  }
}
