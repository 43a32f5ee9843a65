import type { HostAnswer, HostCall, Route } from './dialect.ts'
import type { HostModel, ModelIdentity } from './model.ts'

// What hosts tell about a token, its user, its rights, and the protection of a branch: fields and headers as their
// documentation has them ("Get the authenticated user", "Get a branch", "Personal access tokens API" and others).

function identityOf({ token }: HostCall, { identities }: HostModel): ModelIdentity {
  return identities?.get(token) ?? { user: 'dev', scopes: undefined }
}

function mayPush({ token }: HostCall, { tokens }: HostModel): boolean {
  return tokens.get(token) === 'write'
}

interface Branch {
  readonly name: string
  readonly isProtected: boolean
  readonly mayPush: boolean
}

/** Answers about the branch whose name is in the path. */
function branchRoute(
  path: RegExp,
  { missing, body }: { readonly missing: HostAnswer; readonly body: (branch: Branch) => object },
): Route {
  return {
    method: 'GET',
    path,
    async answer(call, model) {
      const name = decodeURIComponent(call.match[1] ?? '')
      if (!(await model.branches.has(name))) return missing
      const rule = model.protections?.get(name)
      const allowed = mayPush(call, model) && rule !== false
      return { status: 200, body: body({ name, isProtected: rule !== undefined, mayPush: allowed }) }
    },
  }
}

/** Tokens of apps, and fine-grained ones without that right, are refused. */
const NOT_FOR_INTEGRATIONS: HostAnswer = {
  status: 403,
  body: { message: 'Resource not accessible by integration', status: '403' },
}

export const GITHUB_IDENTITY: readonly Route[] = [
  {
    method: 'GET',
    path: /^\/user$/,
    answer(call, model) {
      const { user, scopes, expires } = identityOf(call, model)
      if (user === undefined) return NOT_FOR_INTEGRATIONS
      const headers = {
        ...(scopes === undefined ? {} : { 'x-oauth-scopes': scopes.join(', ') }),
        ...(expires === undefined
          ? {}
          : { 'github-authentication-token-expiration': expires.replace('T', ' ').replace('Z', ' UTC') }),
      }
      return { status: 200, headers, body: { login: user, id: 1, type: 'User' } }
    },
  },
  {
    method: 'GET',
    path: /^\/installation\/repositories$/,
    answer({ token }, { apps, repository }) {
      const issued = apps?.issued.find((one) => one.token === token)
      if (issued === undefined) return NOT_FOR_INTEGRATIONS
      const push = issued.permissions['contents'] === 'write'
      const held = { id: 1, full_name: issued.repository, permissions: { push, pull: true } }
      return { status: 200, body: { total_count: 1, repositories: [{ ...held, name: repository[1] }] } }
    },
  },
  branchRoute(/^\/repos\/[^/]+\/[^/]+\/branches\/(.+)$/, {
    missing: { status: 404, body: { message: 'Branch not found', status: '404' } },
    body: ({ name, isProtected }) => ({ name, commit: { sha: 'c'.repeat(40) }, protected: isProtected }),
  }),
]

/** What `permissions` shows to a user who may push, and to one who may not. */
export function githubPermissions(call: HostCall, model: HostModel): object {
  const push = mayPush(call, model)
  return {
    archived: model.archived,
    permissions: { admin: false, maintain: false, push, triage: push, pull: true },
  }
}

export const GITLAB_IDENTITY: readonly Route[] = [
  {
    method: 'GET',
    path: /^\/personal_access_tokens\/self$/,
    answer(call, model) {
      const { scopes, expires } = identityOf(call, model)
      if (scopes === undefined) return { status: 404, body: { message: '404 Not Found' } }
      const body = { id: 4, name: 'commitlet', revoked: false, active: true, scopes }
      return { status: 200, body: { ...body, expires_at: expires?.slice(0, 10) ?? null } }
    },
  },
  {
    method: 'GET',
    path: /^\/user$/,
    answer(call, model) {
      const { user } = identityOf(call, model)
      if (user === undefined)
        return { status: 403, body: { error: 'insufficient_scope', scope: 'api read_user read_api' } }
      return { status: 200, body: { id: 1, username: user, state: 'active' } }
    },
  },
]

/** Reporters may read, developers may push. */
export function gitlabPermissions(call: HostCall, model: HostModel): object {
  const access_level = mayPush(call, model) ? 30 : 20
  return { permissions: { project_access: { access_level, notification_level: 3 }, group_access: null } }
}

/** Whether the rules of the branch let the user push. */
export function gitlabProtection(call: HostCall, model: HostModel, name: string): object {
  const rule = model.protections?.get(name)
  return { protected: rule !== undefined, can_push: mayPush(call, model) && rule !== false }
}

export const BITBUCKET_IDENTITY: readonly Route[] = [
  {
    method: 'GET',
    path: /^\/user$/,
    answer(call, model) {
      const { user } = identityOf(call, model)
      if (user === undefined)
        return {
          status: 403,
          body: {
            type: 'error',
            error: { message: 'Your credentials lack one or more required privilege scopes.' },
          },
        }
      return { status: 200, body: { type: 'user', display_name: user, account_id: '1', uuid: '{1}' } }
    },
  },
  {
    method: 'GET',
    path: /^\/repositories\/[^/]+\/[^/]+$/,
    answer(call, model) {
      const { scopes } = identityOf(call, model)
      const full_name = model.repository.join('/')
      const headers = scopes === undefined ? {} : { 'x-oauth-scopes': scopes.join(', ') }
      const whole = { type: 'repository', full_name, mainbranch: { name: 'main', type: 'branch' } }
      return { status: 200, headers, body: call.query.get('fields') === 'full_name' ? { full_name } : whole }
    },
  },
  branchRoute(/^\/repositories\/[^/]+\/[^/]+\/refs\/branches\/([^/]+)$/, {
    missing: { status: 404, body: { type: 'error', error: { message: 'Branch not found' } } },
    body: ({ name }) => ({ type: 'branch', name, target: { hash: 'c'.repeat(40) } }),
  }),
]

export const GITEA_IDENTITY: readonly Route[] = [
  {
    method: 'GET',
    path: /^\/user$/,
    answer(call, model) {
      const { user } = identityOf(call, model)
      if (user !== undefined) return { status: 200, body: { id: 1, login: user, username: user } }
      return {
        status: 403,
        body: { message: 'token does not have at least one of required scope(s), required=[read:user]' },
      }
    },
  },
  branchRoute(/^\/repos\/[^/]+\/[^/]+\/branches\/([^/]+)$/, {
    missing: { status: 404, body: { message: "The target couldn't be found." } },
    body: (branch) => ({
      name: branch.name,
      commit: { id: 'c'.repeat(40) },
      protected: branch.isProtected,
      user_can_push: branch.mayPush,
      user_can_merge: branch.mayPush,
    }),
  }),
]

/** What `permissions` shows to a user who may push, and to one who may not. */
export function giteaPermissions(call: HostCall, model: HostModel): object {
  return { archived: model.archived, permissions: { admin: false, push: mayPush(call, model), pull: true } }
}
