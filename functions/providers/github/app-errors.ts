import type { App } from '../../domain/credentials/app.ts'
import { Failure } from '../../domain/failure.ts'
import type { FailureReason } from '../../domain/reasons.ts'
import { wordsMember } from '../api-answer.ts'
import type { ApiAnswer } from '../api-answer.ts'
import type { TokenPlace } from '../ask-for-token.ts'
import { githubFailure, siteOf } from './errors.ts'

/** The names of permissions in the settings of an App. */
const NAMES: Readonly<Record<string, string>> = { contents: 'Contents', pull_requests: 'Pull requests' }
const LEVELS: Readonly<Record<string, string>> = { read: 'read-only', write: 'read and write' }

/**
 * What an answer other than success to an App means. Source: GitHub documentation, "REST API endpoints for GitHub Apps" and
 * "Generating a JSON Web Token (JWT) for a GitHub App", and the messages of GitHub's answers.
 */
export function appFailure(answer: ApiAnswer, place: TokenPlace, app: App): Failure {
  const { status } = answer
  const words = wordsMember(answer.data, 'message') ?? ''
  if (status >= 300 && status < 400) return moved(place)
  if (status === 401)
    return /claim \('(?:exp|iat)'\)/.test(words) ? clock(answer, place, app) : wrongKey(place, app)
  if (status === 403 && /suspended/i.test(words)) return suspended(place, app)
  if (status === 404)
    return /^Integration not found/i.test(words) ? noSuchApp(place, app) : notInstalled(place, app)
  if (status === 422 && /permissions requested are not granted/i.test(words))
    return lackOfPermissions(Object.entries(place.permissions), place, app)
  if (status === 422 && /repositor/i.test(words)) return lackOfRepository(place, app)
  const usual = githubFailure(answer, { ...place, secrets: app.secrets })
  const isUsual = status < 300 || status >= 500 || status === 408 || usual.reason === 'RateLimited'
  if (isUsual || /has an IP allow list enabled/i.test(words)) return usual
  const found = `${app.shown} is issued no token for ${place.shown} (${status})`
  return new Failure('PermissionDenied', `${found}; check its installation and its permissions there.`)
}

/** The installation does not have these permissions. */
export function lackOfPermissions(
  lacking: readonly (readonly [name: string, level: string])[],
  { repository: [owner = ''] }: TokenPlace,
  app: App,
): Failure {
  const named = lacking
    .map(([name, level]) => `${NAMES[name] ?? name} (${LEVELS[level] ?? level})`)
    .join(' and ')
  const message = `${app.shown} lacks the permission ${named} at ${owner}; add it under "Permissions & events" in the settings of the App, and have the owner of ${owner} accept it.`
  return new Failure('PermissionDenied', message)
}

/** The installation does not include the repository. */
export function lackOfRepository({ shown }: TokenPlace, app: App): Failure {
  return about('RepositoryNotFound', app, [
    `is not installed for ${shown}`,
    'select that repository in the settings of the installation, or check the address',
  ])
}

/** The number is that of an installation of the App at another account. */
export function otherAccount({ repository: [owner = ''] }: TokenPlace, app: App): Failure {
  return about('CredentialsInvalid', app, [
    `names an installation (${app.places.installation}) at another account than ${owner}`,
    `name its installation at ${owner}, or none`,
  ])
}

/** The owner, or GitHub, has suspended the installation. */
export function suspended({ repository: [owner = ''], baseURL }: TokenPlace, app: App): Failure {
  return about('PermissionDenied', app, [
    `is suspended at ${owner}`,
    `have its owner unsuspend it at ${siteOf(baseURL)} (Settings, GitHub Apps, Configure)`,
  ])
}

function notInstalled({ shown, repository: [owner = ''] }: TokenPlace, app: App): Failure {
  if (app.installation !== undefined)
    return about('RepositoryNotFound', app, [
      `has no installation with the number that it names (${app.places.installation}; 404)`,
      `name its installation at ${owner}, or none`,
    ])
  return about('RepositoryNotFound', app, [
    `is not installed for ${shown}, or that repository does not exist (404)`,
    `have the owner of ${owner} install it ("Install App" in the settings of the App), or check the address`,
  ])
}

function noSuchApp({ baseURL }: TokenPlace, app: App): Failure {
  return about('AuthenticationFailed', app, [
    `is not known at ${siteOf(baseURL)} (404)`,
    `take the App ID or the client ID from the settings of the App (${app.places.id})`,
  ])
}

function wrongKey({ baseURL }: TokenPlace, app: App): Failure {
  return about('AuthenticationFailed', app, [
    `is not accepted by ${siteOf(baseURL)} (401): its private key belongs to another App, or was deleted there`,
    `generate a private key in the settings of the App, and store it (${app.places.privateKey}) with the ID of that App (${app.places.id})`,
  ])
}

function clock({ headers }: ApiAnswer, { baseURL, now }: TokenPlace, app: App): Failure {
  const seconds = Math.round((now.getTime() - Date.parse(headers.get('date') ?? '')) / 1_000)
  const how = Number.isNaN(seconds)
    ? 'differs from'
    : `is ${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead of'}`
  return about('AuthenticationFailed', app, [
    `is not accepted by ${siteOf(baseURL)} because of its time (401): the clock of the Kubernetes API server, by which Commitlet goes, ${how} that of the host`,
    'have both clocks set',
  ])
}

function moved({ shown }: TokenPlace): Failure {
  const message = `The API reports that ${shown} has moved to another address, for which Commitlet asks for no token; put the new address into spec.repository.`
  return new Failure('RepositoryNotFound', message)
}

function about(
  reason: FailureReason,
  { shown }: App,
  [found, advice]: readonly [found: string, advice: string],
): Failure {
  return new Failure(reason, `${shown} ${found}; ${advice}.`)
}
