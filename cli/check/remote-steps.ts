import type { Change } from '../../functions/domain/commit/change.ts'
import { secretsOf, type Login } from '../../functions/domain/credentials/login.ts'
import { asFailure, Failure } from '../../functions/domain/failure.ts'
import { findRoute, type Destination, type Route } from '../../functions/domain/network/route.ts'
import type { FailureReason } from '../../functions/domain/reasons.ts'
import type { Preview } from '../../functions/git/writer/preview.ts'
import type { Site } from '../local/site.ts'
import { concealing, failed, type Step } from '../terminal/steps.ts'

/** What was looked at on the way to a remote. */
export interface RemoteSteps {
  readonly steps: readonly Step[]
  /** What ended the way; undefined: nothing did. */
  readonly failure: Failure | undefined
}

/** The address of a host: DNS, and the rules for addresses. */
export async function routeSteps(
  { host, scheme, port }: Destination,
  { network }: Pick<Site, 'network'>,
  signal: AbortSignal,
): Promise<RemoteSteps & { readonly route: Route | undefined }> {
  try {
    const route = await findRoute({ host, scheme, port }, network, signal)
    const { addresses } = route
    const steps: readonly Step[] =
      addresses === undefined
        ? [
            unseen('DNS', `The proxy looks up ${host}.`),
            unseen('address', 'The proxy decides which addresses may be called.'),
          ]
        : [
            good('DNS', `${host} is at ${addresses.join(', ')}.`),
            good('address', 'Commitlet may call these addresses, as far as this machine can tell.'),
          ]
    return { steps, failure: undefined, route }
  } catch (error) {
    const failure = asFailure(error)
    const isForbidden = failure.reason === 'AddressForbidden'
    const steps = isForbidden
      ? [good('DNS', `${host} is known.`), failed('address', failure)]
      : [failed('DNS', failure), notReached('address', 'DNS')]
    return { steps, failure, route: undefined }
  }
}

/** What each failure of a session with a remote is about; every other one is about the branch. */
const STEP_OF: Readonly<Partial<Record<FailureReason, string>>> = {
  NetworkError: 'connection',
  Timeout: 'connection',
  ProviderUnavailable: 'connection',
  RateLimited: 'connection',
  AddressForbidden: 'connection',
  TLSUntrusted: 'trust',
  HostKeyUnknown: 'trust',
  HostKeyMismatch: 'trust',
  AuthenticationFailed: 'log-in',
  CredentialsInvalid: 'log-in',
  PermissionDenied: 'repository',
  RepositoryNotFound: 'repository',
}

const WAY = ['connection', 'trust', 'log-in', 'repository', 'branch', 'path', 'push'] as const

/** The way to the repository up to a push, which is not made. */
export async function gitSteps(
  change: Change,
  login: Login,
  { site, signal }: { readonly site: Site; readonly signal: AbortSignal },
): Promise<RemoteSteps> {
  const { steps, failure, route } = await routeSteps(change.repository, site, signal)
  if (route === undefined)
    return { steps: [...steps, ...WAY.map((step) => notReached(step, 'the address'))], failure }
  const seen = await site.git.preview(change, login, signal).catch(asFailure)
  const texts = textsOf(change, login, route)
  if (!(seen instanceof Failure)) return arrived([...steps, ...before('branch', texts)], seen, change)
  const broken = STEP_OF[seen.reason] ?? 'branch'
  const later = WAY.slice(WAY.findIndex((step) => step === broken) + 1)
  // Hosts say of a repository that is hidden that it is not there, whoever asks.
  const vague = seen.reason === 'RepositoryNotFound' ? 'log-in' : broken
  const between =
    vague === broken ? [] : [unseen('log-in', 'The host does not tell whether it accepts the log-in.')]
  const walked = [...before(vague, texts), ...between, failed(broken, seen)]
  return { steps: [...steps, ...walked, ...later.map((step) => notReached(step, broken))], failure: seen }
}

function before(step: string, texts: Readonly<Record<string, Step>>): readonly Step[] {
  const at = WAY.findIndex((one) => one === step)
  return WAY.slice(0, at).flatMap((one) => texts[one] ?? [])
}

function textsOf({ repository }: Change, login: Login, { insecure }: Route): Readonly<Record<string, Step>> {
  const shown = concealing(secretsOf(login))
  const { scheme, host, text } = repository
  const trusted =
    scheme === 'ssh'
      ? good('trust', `${host} has a host key that is known for it.`)
      : good('trust', `The certificate of ${host} is trusted.`)
  const who = login.method === 'key' ? 'the private key' : `the user name ${shown(login.username)}`
  return {
    connection: good('connection', `${host} answers on port ${repository.port}.`),
    trust: insecure
      ? unseen(
          'trust',
          `INSECURE_HOSTS lets every certificate of ${host} through, and plain http; for trying out only.`,
        )
      : trusted,
    'log-in': good('log-in', `${host} accepts ${who}.`),
    repository: good('repository', `${text} can be read.`),
  }
}

function arrived(steps: readonly Step[], seen: Preview, { repository, files: given }: Change): RemoteSteps {
  const { branch, exists, tip, files, refusal } = seen
  const start =
    tip === undefined
      ? 'the repository is empty, and it begins with it'
      : 'it is made from the default branch'
  // What could not be read is not compared.
  const path = given.length === 0 ? notReached('path', 'what goes into it') : pathStep(files)
  const branchStep = good('branch', `${branch} ${exists ? 'is there' : `is not there yet; ${start}`}.`)
  const pushed = good(
    'push',
    `The host lets this login push to ${repository.text}. No push was made, so its hooks and rules have not spoken.`,
  )
  return {
    steps: [...steps, branchStep, path, refusal === undefined ? pushed : failed('push', refusal)],
    failure: refusal,
  }
}

function pathStep(files: Preview['files']): Step {
  if (files instanceof Failure) return failed('path', files)
  if (files.length === 0) return good('path', 'The branch holds all of it already.')
  return good('path', `The commit would change ${files.map(({ path }) => path).join(', ')}.`)
}

function good(step: string, text: string): Step {
  return { step, state: 'good', text }
}

function unseen(step: string, text: string): Step {
  return { step, state: 'unseen', text }
}

/** A step that another one keeps from being looked at. */
export function notReached(step: string, because: string): Step {
  return unseen(step, `Not looked at: ${because} comes first.`)
}
