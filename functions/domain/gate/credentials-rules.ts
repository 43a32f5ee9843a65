import { fieldError, notSupported } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import type { Target } from '../repository/target.ts'
import type { Credentials, Kind, RemoteSpec } from '../resource/resource.ts'
import type { Draft } from '../schema/draft.ts'

/** A spec of unknown soundness: what of it is usable is looked at. */
interface Subject {
  readonly kind: Kind
  readonly spec: Draft<RemoteSpec>
  /** Undefined where the repository's address is faulty itself. */
  readonly target: Target | undefined
}

/**
 * The contradictions of `credentials` and `fallbackCredentials` that the spec alone shows, and the ways to log in
 * that this release does not carry out.
 */
export function credentialErrors(subject: Subject): readonly FieldError[] {
  const { spec } = subject
  const alone = spec.credentials === undefined
  const fieldErrors = alone ? missing(subject) : keyErrors('credentials', subject)
  const field = 'spec.fallbackCredentials'
  if (spec.fallbackCredentials === undefined) return fieldErrors
  const lonely = alone
    ? [fieldError(field, 'is used only together with spec.credentials; name a Secret there too.')]
    : []
  return [...fieldErrors, ...lonely, ...keyErrors('fallbackCredentials', subject)]
}

/** What is called: Git over HTTPS or SSH, or the API of a provider, whatever the address is. */
type Called = 'https' | 'ssh' | 'api'

function calledBy({ kind, target }: Subject): Called | undefined {
  if (kind === 'PullRequest') return 'api'
  if (target === undefined) return undefined
  return target.address.scheme === 'ssh' ? 'ssh' : 'https'
}

// Without credentials it is the operator's default, which is a token.
function missing(subject: Subject): readonly FieldError[] {
  if (calledBy(subject) !== 'ssh') return []
  const complaint =
    "is missing, but an SSH address needs a private key, which the operator's default credentials are not; name a Secret there."
  return [fieldError('spec.credentials', complaint)]
}

/** Does the spec name this key, well or badly? */
type IsNamed = (key: keyof Credentials) => boolean

function keyErrors(name: 'credentials' | 'fallbackCredentials', subject: Subject): readonly FieldError[] {
  const field = `spec.${name}`
  const credentials = subject.spec[name]
  const named: IsNamed = (key) => credentials?.[key] !== undefined
  if (named('appIDKey') || named('installationIDKey')) {
    return [notSupported(`${field}.${named('appIDKey') ? 'appIDKey' : 'installationIDKey'}`, 'a GitHub App')]
  }
  const both = named('tokenKey') && named('passwordKey')
  const exclusive = both
    ? [fieldError(`${field}.passwordKey`, 'stands beside tokenKey; name only one of them.')]
    : []
  return [...exclusive, ...unusableKeys(field, named, calledBy(subject))]
}

/** Keys are named, but none that can be used. */
function unusableKeys(field: string, named: IsNamed, called: Called | undefined): readonly FieldError[] {
  const basic = named('tokenKey') || named('usernameKey') || named('passwordKey')
  if (called === 'https' || called === 'api') {
    return basic ? incompletePair(field, named) : onlySSHKeys(field, named, called)
  }
  if (called === undefined || !basic || named('privateKeyKey') || named('knownHostsKey')) return []
  const first = named('tokenKey') ? 'tokenKey' : named('passwordKey') ? 'passwordKey' : 'usernameKey'
  const complaint =
    'is of no use for an SSH address; name privateKeyKey, or write the https address of the repository.'
  return [fieldError(`${field}.${first}`, complaint)]
}

function incompletePair(field: string, named: IsNamed): readonly FieldError[] {
  if (named('tokenKey') || (named('usernameKey') && named('passwordKey'))) return []
  const [given, other] = named('usernameKey')
    ? ['usernameKey', 'passwordKey']
    : ['passwordKey', 'usernameKey']
  return [fieldError(`${field}.${given}`, `stands alone; name ${other} as well, or use tokenKey.`)]
}

function onlySSHKeys(field: string, named: IsNamed, called: 'https' | 'api'): readonly FieldError[] {
  const key = named('privateKeyKey') ? 'privateKeyKey' : 'knownHostsKey'
  if (!named(key)) return []
  const use = called === 'https' ? 'HTTPS' : 'an API, which takes a token'
  const complaint = `is of no use for ${use}; name tokenKey, or usernameKey and passwordKey.`
  return [fieldError(`${field}.${key}`, complaint)]
}
