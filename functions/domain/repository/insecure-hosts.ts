import type { Authority, RepositoryAddress } from './address.ts'
import { DEFAULT_PORTS, parseAuthority, writeAuthority } from './address.ts'
import type { Environment } from '../settings.ts'
import { list, WrongSetting } from '../settings.ts'
import { withoutUser } from '../redact.ts'

/** Whether INSECURE_HOSTS names the host; an entry without a port means the scheme's default port. */
export function isInsecure(
  { scheme, host, port }: Pick<RepositoryAddress, 'scheme' | 'host' | 'port'>,
  hosts: readonly Authority[],
): boolean {
  // Host keys are checked everywhere.
  if (scheme === 'ssh') return false
  return hosts.some((entry) => entry.host === host && (entry.port ?? DEFAULT_PORTS[scheme]) === port)
}

/** Reads the comma-separated list of `host[:port]`. Throws WrongSetting, one sentence, for anything else, wildcards included. */
export function readInsecureHosts(env: Environment): readonly Authority[] {
  return list(env, 'INSECURE_HOSTS').map((entry) => {
    const authority = parseAuthority(entry)
    if (authority !== undefined) return authority
    throw new WrongSetting(
      `INSECURE_HOSTS has the entry "${withoutUser(entry)}", but each has to be host[:port] in lower case, such as git.example.com:8443, and never a wildcard.`,
    )
  })
}

/** The warning of the webhook and the function at their start if there are such hosts; else undefined. */
export function insecureWarning(hosts: readonly Authority[]): string | undefined {
  if (hosts.length === 0) return undefined
  const names = hosts.map((host) => writeAuthority(host))
  return `INSECURE_HOSTS is set: anyone on the network path to ${names.join(', ')} can read the credentials and change what is committed; use it only for trying out`
}
