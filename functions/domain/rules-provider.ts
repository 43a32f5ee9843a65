import { DEFAULT_PORTS } from './address.ts'
import type { RepositoryAddress } from './address.ts'
import { fault } from './fault.ts'
import type { Fault } from './fault.ts'
import { HOSTS, hostNamed, hostOf, publicAPI, publicHost } from './hosts.ts'
import type { Host } from './hosts.ts'
import { member, textMember } from './member.ts'
import type { Kind } from './resources.ts'
import { pullRequestFaults } from './rules-pullrequest.ts'

/**
 * What is wrong with `provider` and `providerConfig` for this repository, and what its host does not have. Where
 * the address is faulty itself (undefined), only a provider that nobody knows.
 */
export function providerFaults(
  kind: Kind,
  spec: unknown,
  address: RepositoryAddress | undefined,
): readonly Fault[] {
  const provider = textMember(spec, 'provider')
  const named = nameFaults(provider, address)
  if (address === undefined || named.length > 0) return named
  const host = hostOf(address, provider)
  const needs = kind === 'GitCommit' ? [] : needed(spec, address)
  if (host === undefined) return kind === 'GitCommit' ? unread(spec) : needs
  const config = configFaults(spec, address, host)
  return kind === 'GitCommit' ? config : [...config, ...needs, ...pullRequestFaults(spec, address, host)]
}

/** What may be repeated: a token is longer, and has digits. */
const NO_SECRET = /^[A-Za-z-]{1,20}$/
const KNOWN = HOSTS.map(({ name, alike }) => (alike === undefined ? name : `${name} (also for ${alike})`))

function nameFaults(provider: string | undefined, address: RepositoryAddress | undefined): readonly Fault[] {
  if (provider === undefined) return []
  const field = 'spec.provider'
  if (hostNamed(provider) === undefined) {
    const found = NO_SECRET.test(provider) ? `is "${provider}", which is` : 'is'
    return [fault(field, `${found} no provider that is known; write one of ${KNOWN.join(', ')}.`)]
  }
  const known = address === undefined ? undefined : publicHost(address.host)
  if (address === undefined || known === undefined || known.name === provider) return []
  return [fault(field, `is "${provider}", but ${address.host} is ${known.name}; leave it out.`)]
}

function unread(spec: unknown): readonly Fault[] {
  if (member(spec, 'providerConfig') === undefined || member(spec, 'provider') !== undefined) return []
  return [fault('spec.provider', 'is missing; spec.providerConfig needs it on a host that is not known.')]
}

function configFaults(spec: unknown, address: RepositoryAddress, host: Host): readonly Fault[] {
  const config = member(spec, 'providerConfig')
  if (config === undefined) return []
  const known = publicAPI(address.host)
  const base = known === undefined ? addresses(address, host.apiSuffix) : known.slice(0, 1)
  const upload = known === undefined ? addresses(address, host.uploadSuffix) : known.slice(1)
  return [
    ...urlFaults(config, 'baseURL', { host, allowed: base }),
    ...urlFaults(config, 'uploadURL', { host, allowed: upload }),
  ]
}

function urlFaults(
  config: unknown,
  key: 'baseURL' | 'uploadURL',
  { host, allowed }: { readonly host: Host; readonly allowed: readonly string[] },
): readonly Fault[] {
  const url = textMember(config, key)
  const [first] = allowed
  if (url === undefined || allowed.includes(url)) return []
  const field = `spec.providerConfig.${key}`
  if (first === undefined) return [fault(field, `is of no use with ${host.name} on this host; leave it out.`)]
  const plain = url.replace(/\/+$/, '')
  if (allowed.includes(plain)) return [fault(field, `ends with a slash; write ${plain} without it.`)]
  const others = allowed.length > 1 ? ", or that with the first parts of the repository's path before it" : ''
  return [fault(field, `does not belong to the repository; write ${first}${others}.`)]
}

// An installation under a path of its host has that path in the repository's address too.
function addresses(address: RepositoryAddress, suffix: string | undefined): readonly string[] {
  if (suffix === undefined) return []
  const host = address.host.includes(':') ? `[${address.host}]` : address.host
  const scheme = address.scheme === 'http' ? 'http' : 'https'
  const isDefault = address.scheme === 'ssh' || address.port === DEFAULT_PORTS[scheme]
  const origin = `${scheme}://${host}${isDefault ? '' : `:${address.port}`}`
  return address.segments.map((_, index) => {
    const prefix = address.segments.slice(0, index).map((segment) => `/${segment}`)
    return `${origin}${prefix.join('')}${suffix}`
  })
}

/** A pull request is opened by an API: on a host that is not known, which and where has to be said. */
function needed(spec: unknown, address: RepositoryAddress): readonly Fault[] {
  if (publicHost(address.host) !== undefined) return []
  const say = `is missing; ${address.host} is not a public host, so a pull request needs it.`
  return [
    ...(member(spec, 'provider') === undefined ? [fault('spec.provider', say)] : []),
    ...(member(member(spec, 'providerConfig'), 'baseURL') === undefined
      ? [fault('spec.providerConfig.baseURL', say)]
      : []),
  ]
}
