import { bracketed, DEFAULT_PORTS, writeAuthority } from '../repository/address.ts'
import type { RepositoryAddress } from '../repository/address.ts'
import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { hostNamed, PROVIDER_NAMES } from '../repository/hosts.ts'
import type { Host } from '../repository/hosts.ts'
import type { Target } from '../repository/target.ts'
import type { ProviderConfig, RemoteSpec } from '../spec/spec.ts'
import type { Draft } from '../schema/draft.ts'
import type { Readable } from '../schema/parse.ts'
import { pullRequestErrors } from './pull-request-rules.ts'

/**
 * The errors in `provider` and `providerConfig` for this repository, and the fields that its host does not support. If
 * the address has an error itself, only an unknown provider is reported.
 */
export function providerErrors({ kind, spec, target }: Readable): readonly FieldError[] {
  const named = nameErrors(spec.provider, target)
  if (target === undefined || named.length > 0) return named
  const { host } = target
  const needs = kind === 'GitCommit' ? [] : missingForAPI(spec, target)
  if (host === undefined) return kind === 'GitCommit' ? missingProvider(spec) : needs
  const config = configErrors(spec.providerConfig, target, host)
  return kind === 'GitCommit' ? config : [...config, ...needs, ...pullRequestErrors(spec, target, host)]
}

/** The names that messages repeat: a token is longer, and has digits. */
const NO_SECRET = /^[A-Za-z-]{1,20}$/

function nameErrors(provider: string | null | undefined, target: Target | undefined): readonly FieldError[] {
  if (provider === undefined || provider === null) return []
  const field = 'spec.provider'
  if (hostNamed(provider) === undefined) {
    const found = NO_SECRET.test(provider) ? `is "${provider}", which is` : 'is'
    return [fieldError(field, `${found} not a known provider; write one of ${PROVIDER_NAMES}.`)]
  }
  if (target?.publicAPI === undefined || target.host === undefined || target.host.name === provider) return []
  const { address, host } = target
  return [fieldError(field, `is "${provider}", but ${address.host} is ${host.name}; leave it out.`)]
}

function missingProvider({ provider, providerConfig }: Draft<RemoteSpec>): readonly FieldError[] {
  if (providerConfig === undefined || provider !== undefined) return []
  return [
    fieldError('spec.provider', 'is missing; spec.providerConfig needs it on a host that is not known.'),
  ]
}

function configErrors(
  config: Draft<ProviderConfig> | null | undefined,
  { address, publicAPI }: Target,
  host: Host,
): readonly FieldError[] {
  if (config === undefined || config === null) return []
  const base = publicAPI === undefined ? addresses(address, host.apiSuffix) : publicAPI.slice(0, 1)
  const upload = publicAPI === undefined ? addresses(address, host.uploadSuffix) : publicAPI.slice(1)
  return [
    ...urlErrors(config, 'baseURL', { host, allowed: base }),
    ...urlErrors(config, 'uploadURL', { host, allowed: upload }),
  ]
}

function urlErrors(
  config: Draft<ProviderConfig>,
  key: 'baseURL' | 'uploadURL',
  { host, allowed }: { readonly host: Host; readonly allowed: readonly string[] },
): readonly FieldError[] {
  const url = config[key]
  const [first] = allowed
  if (url === undefined || url === null || allowed.includes(url)) return []
  const field = `spec.providerConfig.${key}`
  if (first === undefined)
    return [fieldError(field, `is not used with ${host.name} on this host; leave it out.`)]
  const plain = url.replace(/\/+$/, '')
  if (allowed.includes(plain)) return [fieldError(field, `ends with a slash; write ${plain} without it.`)]
  const others = allowed.length > 1 ? ', with the path of the installation before "/api" if it has one' : ''
  return [fieldError(field, `does not belong to the repository; write ${first}${others}.`)]
}

// If an installation is below a path of its host, the repository's address begins with that path too.
function addresses(address: RepositoryAddress, suffix: string | undefined): readonly string[] {
  if (suffix === undefined) return []
  const scheme = address.scheme === 'http' ? 'http' : 'https'
  const isSSH = address.scheme === 'ssh'
  const origin = `${scheme}://${isSSH ? bracketed(address.host) : writeAuthority(address, DEFAULT_PORTS[scheme])}`
  return address.segments.map((_, index) => {
    const prefix = address.segments.slice(0, index).map((segment) => `/${segment}`)
    return `${origin}${prefix.join('')}${suffix}`
  })
}

/** A pull request needs the API of a provider: for a host that is not public, the spec has to say which and where. */
function missingForAPI(spec: Draft<RemoteSpec>, { address, publicAPI }: Target): readonly FieldError[] {
  if (publicAPI !== undefined) return []
  const complaint = `is missing; ${address.host} is not a public host, so a pull request needs it.`
  return [
    ...(spec.provider === undefined ? [fieldError('spec.provider', complaint)] : []),
    ...(spec.providerConfig?.baseURL === undefined
      ? [fieldError('spec.providerConfig.baseURL', complaint)]
      : []),
  ]
}
