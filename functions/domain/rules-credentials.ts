import type { RepositoryAddress } from './address.ts'
import { fault, notSupported } from './fault.ts'
import type { Fault } from './fault.ts'
import { member } from './member.ts'
import type { Credentials, Kind } from './resources.ts'

/** A spec of unknown soundness: what of it is usable is looked at. */
interface Subject {
  readonly kind: Kind
  readonly spec: unknown
  /** Undefined where the repository's address is faulty itself. */
  readonly address: RepositoryAddress | undefined
}

/**
 * The contradictions of `credentials` and `fallbackCredentials` that the spec alone shows, and the ways to log in
 * that this release does not carry out.
 */
export function credentialFaults(subject: Subject): readonly Fault[] {
  const { spec } = subject
  const alone = member(spec, 'credentials') === undefined
  const faults = alone ? [missing()] : keyFaults('spec.credentials', subject)
  if (member(spec, 'fallbackCredentials') === undefined) return faults
  const field = 'spec.fallbackCredentials'
  const lonely = alone
    ? [fault(field, 'is used only together with spec.credentials; name a Secret there too.')]
    : []
  const refused = [...lonely, notSupported(field, 'a second way to log in')]
  return [...faults, ...refused, ...keyFaults(field, subject)]
}

function missing(): Fault {
  const complaint =
    "is missing, and the operator's default credentials are not supported yet; name a Secret there."
  return fault('spec.credentials', complaint, 'NotSupported')
}

type Named = (key: keyof Credentials) => boolean

function keyFaults(field: string, { spec, kind, address }: Subject): readonly Fault[] {
  const credentials = member(spec, field.slice('spec.'.length))
  const named: Named = (key) => member(credentials, key) !== undefined
  if (named('appIDKey') || named('installationIDKey')) {
    return [notSupported(`${field}.${named('appIDKey') ? 'appIDKey' : 'installationIDKey'}`, 'a GitHub App')]
  }
  const both = named('tokenKey') && named('passwordKey')
  const exclusive = both
    ? [fault(`${field}.passwordKey`, 'stands beside tokenKey; name only one of them.')]
    : []
  const unusable = unusableKeys(field, named, { kind, scheme: address?.scheme })
  return [...exclusive, ...unusable, ...(unusable.length === 0 ? sshKeys(field, named) : [])]
}

function sshKeys(field: string, named: Named): readonly Fault[] {
  return [
    ...(named('privateKeyKey') ? [notSupported(`${field}.privateKeyKey`, 'an SSH key')] : []),
    ...(named('knownHostsKey') ? [notSupported(`${field}.knownHostsKey`, 'SSH host keys')] : []),
  ]
}

/** Keys are named, but none that the address can use. */
function unusableKeys(
  field: string,
  named: Named,
  remote: { readonly kind: Kind; readonly scheme: 'https' | 'ssh' | undefined },
): readonly Fault[] {
  const basic = named('tokenKey') || named('usernameKey') || named('passwordKey')
  if (remote.scheme === 'https') return basic ? incompletePair(field, named) : onlySSHKeys(field, named)
  // The API of a provider is called over HTTPS, also for a pull request of an SSH repository.
  if (remote.scheme === undefined || remote.kind === 'PullRequest') return []
  if (!basic || named('privateKeyKey')) return []
  const first = named('tokenKey') ? 'tokenKey' : named('passwordKey') ? 'passwordKey' : 'usernameKey'
  return [
    fault(`${field}.${first}`, 'is of no use for an SSH address; write the https address of the repository.'),
  ]
}

function incompletePair(field: string, named: Named): readonly Fault[] {
  if (named('tokenKey') || (named('usernameKey') && named('passwordKey'))) return []
  const [given, other] = named('usernameKey')
    ? ['usernameKey', 'passwordKey']
    : ['passwordKey', 'usernameKey']
  return [fault(`${field}.${given}`, `stands alone; name ${other} as well, or use tokenKey.`)]
}

function onlySSHKeys(field: string, named: Named): readonly Fault[] {
  const key = named('privateKeyKey') ? 'privateKeyKey' : 'knownHostsKey'
  if (!named(key)) return []
  const complaint = 'is of no use for an https address; name tokenKey, or usernameKey and passwordKey.'
  return [fault(`${field}.${key}`, complaint)]
}
