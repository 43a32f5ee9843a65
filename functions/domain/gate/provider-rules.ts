import { DEFAULT_PORTS } from '../repository/address.ts'
import type { RepositoryAddress } from '../repository/address.ts'
import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { hostNamed, hostOf, PROVIDER_NAMES, publicAPI, publicHost } from '../repository/hosts.ts'
import type { Host } from '../repository/hosts.ts'
import { member, textMember } from '../json-value.ts'
import type { Kind } from '../resource/resource.ts'
import { pullRequestErrors } from './pull-request-rules.ts'

/**
 * What is wrong with `provider` and `providerConfig` for this repository, and what its host does not have. Where
 * the address is faulty itself (undefined), only a provider that nobody knows.
 */
export function providerErrors(
  kind: Kind,
  spec: unknown,
  address: RepositoryAddress | undefined,
): readonly FieldError[] {
  const provider = textMember(spec, 'provider')
  const named = nameErrors(provider, address)
  if (address === undefined || named.length > 0) return named
  const host = hostOf(address, provider)
  const needs = kind === 'GitCommit' ? [] : needed(spec, address)
  if (host === undefined) return kind === 'GitCommit' ? unread(spec) : needs
  const config = configErrors(spec, address, host)
  return kind === 'GitCommit' ? config : [...config, ...needs, ...pullRequestErrors(spec, address, host)]
}

/** What may be repeated: a token is longer, and has digits. */
const NO_SECRET = /^[A-Za-z-]{1,20}$/

function nameErrors(
  provider: string | undefined,
  address: RepositoryAddress | undefined,
): readonly FieldError[] {
  if (provider === undefined) return []
  const field = 'spec.provider'
  if (hostNamed(provider) === undefined) {
    const found = NO_SECRET.test(provider) ? `is "${provider}", which is` : 'is'
    return [fieldError(field, `${found} no provider that is known; write one of ${PROVIDER_NAMES}.`)]
  }
  const known = address === undefined ? undefined : publicHost(address.host)
  if (address === undefined || known === undefined || known.name === provider) return []
  return [fieldError(field, `is "${provider}", but ${address.host} is ${known.name}; leave it out.`)]
}

function unread(spec: unknown): readonly FieldError[] {
  if (member(spec, 'providerConfig') === undefined || member(spec, 'provider') !== undefined) return []
  return [
    fieldError('spec.provider', 'is missing; spec.providerConfig needs it on a host that is not known.'),
  ]
}

function configErrors(spec: unknown, address: RepositoryAddress, host: Host): readonly FieldError[] {
  const config = member(spec, 'providerConfig')
  if (config === undefined) return []
  const known = publicAPI(address.host)
  const base = known === undefined ? addresses(address, host.apiSuffix) : known.slice(0, 1)
  const upload = known === undefined ? addresses(address, host.uploadSuffix) : known.slice(1)
  return [
    ...urlErrors(config, 'baseURL', { host, allowed: base }),
    ...urlErrors(config, 'uploadURL', { host, allowed: upload }),
  ]
}

function urlErrors(
  config: unknown,
  key: 'baseURL' | 'uploadURL',
  { host, allowed }: { readonly host: Host; readonly allowed: readonly string[] },
): readonly FieldError[] {
  const url = textMember(config, key)
  const [first] = allowed
  if (url === undefined || allowed.includes(url)) return []
  const field = `spec.providerConfig.${key}`
  if (first === undefined)
    return [fieldError(field, `is of no use with ${host.name} on this host; leave it out.`)]
  const plain = url.replace(/\/+$/, '')
  if (allowed.includes(plain)) return [fieldError(field, `ends with a slash; write ${plain} without it.`)]
  const others = allowed.length > 1 ? ", or that with the first parts of the repository's path before it" : ''
  return [fieldError(field, `does not belong to the repository; write ${first}${others}.`)]
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
function needed(spec: unknown, address: RepositoryAddress): readonly FieldError[] {
  if (publicHost(address.host) !== undefined) return []
  const say = `is missing; ${address.host} is not a public host, so a pull request needs it.`
  return [
    ...(member(spec, 'provider') === undefined ? [fieldError('spec.provider', say)] : []),
    ...(member(member(spec, 'providerConfig'), 'baseURL') === undefined
      ? [fieldError('spec.providerConfig.baseURL', say)]
      : []),
  ]
}
