import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import type { Target } from '../repository/target.ts'
import type { Credentials, RemoteSpec } from '../spec/spec.ts'
import type { Kind } from '../resource/api-names.ts'
import type { Draft } from '../schema/draft.ts'

/** A spec that may have errors: rules check its usable parts. */
interface Subject {
  readonly kind: Kind
  readonly spec: Draft<RemoteSpec>
  /** Undefined if the address of the repository has an error itself. */
  readonly target: Target | undefined
}

/** The errors in `credentials` and `fallbackCredentials` that the spec alone shows. */
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
  if (named('appIDKey')) return [...appKeyErrors(field, named), ...appPlaceErrors(field, subject)]
  if (named('installationIDKey')) {
    const complaint =
      'is set without appIDKey and privateKeyKey; set all three for a GitHub App, or leave it out.'
    return [fieldError(`${field}.installationIDKey`, complaint)]
  }
  const both = named('tokenKey') && named('passwordKey')
  const exclusive = both
    ? [fieldError(`${field}.passwordKey`, 'is set together with tokenKey; set only one of them.')]
    : []
  return [...exclusive, ...unusableKeys(field, named, calledBy(subject))]
}

/** The keys of a GitHub App: its ID and its private key, and nothing else that logs in. */
function appKeyErrors(field: string, named: IsNamed): readonly FieldError[] {
  const other = (['tokenKey', 'passwordKey', 'usernameKey'] as const).find(named)
  const exclusive =
    other === undefined
      ? []
      : [fieldError(`${field}.${other}`, 'is set together with appIDKey; set only one of them.')]
  if (named('privateKeyKey')) return exclusive
  const complaint =
    'is missing, but a GitHub App logs in with its private key; name the key of the Secret that holds it.'
  return [...exclusive, fieldError(`${field}.privateKeyKey`, complaint)]
}

/** A GitHub App needs an API that issues its tokens; for a pull request other rules demand that the API is known. */
function appPlaceErrors(field: string, subject: Subject): readonly FieldError[] {
  const { target } = subject
  const called = calledBy(subject)
  if (target === undefined) return []
  const ofField = (complaint: string): FieldError => fieldError(`${field}.appIDKey`, complaint)
  if (called === 'ssh')
    return [ofField('is not used for an SSH address; write the https address of the repository.')]
  if (target.host !== undefined && target.host.hasApps !== true)
    return [
      ofField(`is for GitHub alone, but the host is of the provider ${target.host.name}; name tokenKey.`),
    ]
  if (called === 'api' || (target.host !== undefined && target.baseURL !== undefined)) return []
  return [
    ofField(
      'needs the API of a GitHub Enterprise Server; write provider: github and providerConfig.baseURL, such as https://github.example.com/api/v3.',
    ),
  ]
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
