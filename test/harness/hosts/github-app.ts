import { createPublicKey, verify } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { elements, entries, isRecord, member, textMember } from '../../../functions/domain/json-value.ts'
import type { HostAnswer, HostCall } from './dialect.ts'
import { REPOSITORY_ID } from './github-bodies.ts'
import { said } from './github-literal.ts'
import type { HostModel } from './model.ts'

/** The Apps of a host, their installations, and the tokens that it has issued to them. */
export interface ModelApps {
  /** Public keys of an App, by its ID. */
  readonly keys: Map<string, KeyObject>
  readonly installations: ModelInstallation[]
  /** In the order in which they were issued. */
  readonly issued: ModelAppToken[]
  /** The host's clock, in seconds since 1970. */
  now: () => number
  /** Told of each token, and when it has ended. */
  onIssue?: (token: ModelAppToken) => void
  onEnd?: (token: ModelAppToken) => void
}

export interface ModelInstallation {
  readonly id: number
  readonly appID: string
  /** The user or organization. */
  readonly account: string
  /** Names of the repositories that were selected. */
  readonly repositories: string[]
  readonly permissions: Record<string, 'read' | 'write'>
  suspended: boolean
}

export interface ModelAppToken {
  readonly token: string
  readonly installation: number
  /** Path of its one repository. */
  readonly repository: string
  readonly permissions: Readonly<Record<string, string>>
}

const LIFETIME_S = 3_600
const LONGEST_JWT_S = 600

/** The Apps of a host without any. */
export function memoryApps(): ModelApps {
  const now = (): number => Math.floor(Date.now() / 1_000)
  return { keys: new Map(), installations: [], issued: [], now }
}

/** Ends a token before its time, as when the owner of its App revokes it. */
export function endToken(model: HostModel, ended: ModelAppToken): void {
  model.tokens.delete(ended.token)
  model.apps?.onEnd?.(ended)
}

/** The App's key as the host has it. */
export function publicHalf(privateKey: string): KeyObject {
  return createPublicKey(privateKey)
}

const ROUTES: readonly (readonly [method: string, path: RegExp, answer: AppRoute])[] = [
  ['GET', /^\/repos\/([^/]+)\/([^/]+)\/installation$/, ofRepository],
  ['GET', /^\/app\/installations\/(\d+)$/, ofNumber],
  ['POST', /^\/app\/installations\/(\d+)\/access_tokens$/, issue],
]

type AppRoute = (call: AppCall, model: HostModel, apps: ModelApps) => HostAnswer

interface AppCall extends Pick<HostCall, 'body'> {
  readonly parts: readonly string[]
  readonly appID: string
}

/** The answer to what only an App may ask, by its JSON Web Token; undefined: it is no such request. */
export function answerToApp(
  { method, path, body }: { readonly method: string; readonly path: string; readonly body: unknown },
  headers: Headers,
  model: HostModel,
): HostAnswer | undefined {
  const { apps } = model
  for (const [asked, pattern, answer] of ROUTES) {
    const match = asked === method ? pattern.exec(path) : null
    if (match === null) continue
    if (apps === undefined) return said(404, 'Not Found')
    const app = appOf(headers.get('authorization') ?? '', apps)
    const date = new Date(apps.now() * 1_000).toUTCString()
    const reply =
      typeof app === 'string' ? answer({ parts: match.slice(1), body, appID: app }, model, apps) : app
    return { ...reply, headers: { date, ...reply.headers } }
  }
  return undefined
}

/**
 * The ID of the App that the token is of, or why it is refused. As documented: RS256 alone, `iat` not in the future, `exp` in
 * the future and at most ten minutes ahead, `iss` the ID of the App.
 */
function appOf(authorization: string, apps: ModelApps): string | HostAnswer {
  const [, jwt = ''] = /^bearer (\S+)$/i.exec(authorization) ?? []
  const [head = '', claims = '', signature = '', ...more] = jwt.split('.')
  const [header, payload] = [decoded(head), decoded(claims)]
  const undecoded = said(401, 'A JSON web token could not be decoded')
  if (more.length > 0 || textMember(header, 'alg') !== 'RS256' || !isRecord(payload)) return undecoded
  const [iat, exp] = [member(payload, 'iat'), member(payload, 'exp')]
  const appID = textMember(payload, 'iss') ?? ''
  const key = apps.keys.get(appID)
  if (key === undefined) return said(404, 'Integration not found')
  const bytes = Buffer.from(`${head}.${claims}`)
  if (!verify('RSA-SHA256', bytes, key, Buffer.from(signature, 'base64url'))) return undecoded
  const now = apps.now()
  if (!Number.isInteger(iat) || Number(iat) > now)
    return said(
      401,
      "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued",
    )
  if (!Number.isInteger(exp) || Number(exp) <= now)
    return said(
      401,
      "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires",
    )
  if (Number(exp) > now + LONGEST_JWT_S)
    return said(401, "'Expiration time' claim ('exp') is too far in the future")
  return appID
}

function decoded(part: string): unknown {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString())
  } catch {
    return undefined
  }
}

function ofRepository({ parts, appID }: AppCall, _model: HostModel, apps: ModelApps): HostAnswer {
  const [owner = '', name = ''] = parts.map((part) => decodeURIComponent(part).toLowerCase())
  const found = apps.installations.find(
    (one) =>
      one.appID === appID &&
      one.account.toLowerCase() === owner &&
      one.repositories.some((repository) => repository.toLowerCase() === name),
  )
  return shown(found)
}

function ofNumber(call: AppCall, _model: HostModel, apps: ModelApps): HostAnswer {
  return shown(numbered(call, apps))
}

function numbered(
  { parts: [id], appID }: AppCall,
  { installations }: ModelApps,
): ModelInstallation | undefined {
  return installations.find((one) => String(one.id) === id && one.appID === appID)
}

function shown(found: ModelInstallation | undefined): HostAnswer {
  if (found === undefined) return said(404, 'Not Found')
  const { id, account, permissions, suspended } = found
  const body = {
    id,
    account: { login: account, id: 7, type: 'Organization' },
    permissions: { metadata: 'read', ...permissions },
    suspended_at: suspended ? '2026-01-02T03:04:05Z' : null,
    repository_selection: 'selected',
  }
  return { status: 200, body }
}

function issue(call: AppCall, model: HostModel, apps: ModelApps): HostAnswer {
  const found = numbered(call, apps)
  if (found === undefined) return said(404, 'Not Found')
  if (found.suspended) return said(403, 'This installation has been suspended')
  const names = elements(member(call.body, 'repositories'))
  const isSelected = (name: unknown): boolean =>
    found.repositories.some((one) => one.toLowerCase() === String(name).toLowerCase())
  if (!names.every(isSelected))
    return said(
      422,
      'There is at least one repository that does not exist or is not accessible to the parent installation.',
    )
  const asked = Object.fromEntries(entries(member(call.body, 'permissions')).map(([k, v]) => [k, String(v)]))
  const isGranted = ([name, level]: readonly [string, string]): boolean =>
    found.permissions[name] === 'write' || found.permissions[name] === level
  if (!Object.entries(asked).every(isGranted))
    return said(422, 'The permissions requested are not granted to this installation.')
  // Without them a token is for all that was granted.
  const permissions = member(call.body, 'permissions') === undefined ? found.permissions : asked
  const held = names.length === 0 ? found.repositories : names.map(String)
  return created({ found, held, permissions }, model, apps)
}

interface Granted {
  readonly found: ModelInstallation
  readonly held: readonly string[]
  readonly permissions: Readonly<Record<string, string>>
}

function created({ found, held, permissions }: Granted, model: HostModel, apps: ModelApps): HostAnswer {
  const [name = ''] = held
  const repository = `${found.account}/${name}`
  // Some 520 characters, as since 2026: the token of an App's ID and a JSON Web Token.
  const random = Array.from({ length: 3 }, () => crypto.randomUUID().replaceAll('-', '_').padEnd(170, 'x'))
  const token = `ghs_${found.appID}_${random.join('.')}`
  const issued = { token, installation: found.id, repository, permissions }
  apps.issued.push(issued)
  const isOfModel = repository.toLowerCase() === model.repository.join('/').toLowerCase()
  const right = permissions['pull_requests'] === 'write' ? 'write' : 'read'
  model.tokens.set(token, isOfModel ? right : 'stranger')
  model.identities?.set(token, { user: undefined, scopes: undefined })
  apps.onIssue?.(issued)
  const body = {
    token,
    expires_at: new Date((apps.now() + LIFETIME_S) * 1_000).toISOString().replace(/\.\d+/, ''),
    permissions: { metadata: 'read', ...permissions },
    repository_selection: 'selected',
    repositories: held.map((one) => ({
      id: REPOSITORY_ID,
      name: one,
      full_name: `${found.account}/${one}`,
    })),
  }
  return { status: 201, body }
}
