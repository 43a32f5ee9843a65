import { fieldError, notSupported } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import type { Target } from '../repository/target.ts'
import type { Credentials, Kind, RemoteSpec } from '../resource/resource.ts'
import type { Draft } from '../schema/draft.ts'

/** A spec that may have errors: rules check its usable parts. */
interface Subject {
  readonly kind: Kind
  readonly spec: Draft<RemoteSpec>
  /** Undefined if the address of the repository has an error itself. */
  readonly target: Target | undefined
}

/**
 * The errors in `credentials` and `fallbackCredentials` that the spec alone shows, and the ways to log in that are not
 * supported yet.
 */
export function credentialErrors(subject: Subject): readonly FieldError[] {
  const { spec } = subject
  const usesDefault = spec.credentials === undefined
  const fieldErrors = usesDefault ? missing(subject) : keyErrors('credentials', subject)
  const field = 'spec.fallbackCredentials'
  if (spec.fallbackCredentials === undefined) return fieldErrors
  const unpaired = usesDefault
    ? [fieldError(field, 'is used only together with spec.credentials; name a Secret there too.')]
    : []
  return [...fieldErrors, ...unpaired, ...keyErrors('fallbackCredentials', subject)]
}

/** What is called: Git over HTTPS or SSH, or, for any address, the API of a provider. */
type Called = 'https' | 'ssh' | 'api'

function calledBy({ kind, target }: Subject): Called | undefined {
  if (kind === 'PullRequest') return 'api'
  if (target === undefined) return undefined
  return target.address.scheme === 'ssh' ? 'ssh' : 'https'
}

// Without credentials the operator's default is used, which is a token.
function missing(subject: Subject): readonly FieldError[] {
  if (calledBy(subject) !== 'ssh') return []
  const complaint =
    "is missing, but an SSH address needs a private key, which the operator's default credentials do not have; name a Secret there."
  return [fieldError('spec.credentials', complaint)]
}

/** Does the spec set this key, with a valid value or not? */
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
    ? [fieldError(`${field}.passwordKey`, 'is set together with tokenKey; set only one of them.')]
    : []
  return [...exclusive, ...unusableKeys(field, named, calledBy(subject))]
}

/** The errors if keys are named, but none that can be used. */
function unusableKeys(field: string, named: IsNamed, called: Called | undefined): readonly FieldError[] {
  const basic = named('tokenKey') || named('usernameKey') || named('passwordKey')
  if (called === 'https' || called === 'api') {
    return basic ? incompletePair(field, named) : onlySSHKeys(field, named, called)
  }
  if (called === undefined || !basic || named('privateKeyKey') || named('knownHostsKey')) return []
  const first = named('tokenKey') ? 'tokenKey' : named('passwordKey') ? 'passwordKey' : 'usernameKey'
  const complaint =
    'is not used for an SSH address; name privateKeyKey, or write the https address of the repository.'
  return [fieldError(`${field}.${first}`, complaint)]
}

function incompletePair(field: string, named: IsNamed): readonly FieldError[] {
  if (named('tokenKey') || (named('usernameKey') && named('passwordKey'))) return []
  const [given, other] = named('usernameKey')
    ? ['usernameKey', 'passwordKey']
    : ['passwordKey', 'usernameKey']
  return [fieldError(`${field}.${given}`, `is set without ${other}; set both, or use tokenKey.`)]
}

function onlySSHKeys(field: string, named: IsNamed, called: 'https' | 'api'): readonly FieldError[] {
  const key = named('privateKeyKey') ? 'privateKeyKey' : 'knownHostsKey'
  if (!named(key)) return []
  const use = called === 'https' ? 'HTTPS' : 'an API, which takes a token'
  const complaint = `is not used for ${use}; name tokenKey, or usernameKey and passwordKey.`
  return [fieldError(`${field}.${key}`, complaint)]
}
