import { USUAL_TOKEN_USERNAME } from '../repository/hosts.ts'
import type { Calls, Target } from '../repository/target.ts'
import type { Kind } from '../resource/api-names.ts'
import type { App } from './app.ts'
import { identityOf } from './login.ts'
import type { ApiLogin, Issued, LoginOf } from './login.ts'

/** A token that a host has issued to an App, for one repository and what one kind needs. */
export interface AppToken extends Issued {
  readonly token: string
}

/** What a host says of a token that it has just issued. */
export interface IssuedToken {
  readonly token: string
  /** The number of the installation. */
  readonly installation: string
  /** How long it is valid, by the host's clock. */
  readonly seconds: number
}

/** Whose token is asked for, and for which repository. */
export interface AppTokenUse {
  readonly app: App
  readonly target: Target
}

/** Returns a token that is valid for five more minutes at least. Fails with a Failure if the host issues none. */
export type TokenFor = (use: AppTokenUse) => Promise<AppToken>

/** Asks no host: for those who only look whether the credentials can be used. */
export const WITHOUT_TOKEN: TokenFor = () =>
  Promise.resolve({ token: '', counted: '', forget: () => undefined })

/** What a token may do in its repository, by the names of GitHub's permissions. */
export type Permissions = Readonly<Record<string, 'read' | 'write'>>

/**
 * What each kind needs, and no more. GitHub opens a pull request in a private repository only if the token may read both
 * branches.
 */
export const PERMISSIONS: Readonly<Record<Kind, Permissions>> = {
  GitCommit: { contents: 'write' },
  PullRequest: { pull_requests: 'write', contents: 'read' },
}

/**
 * The login with a token of the App. Its identity stays the same when the token is replaced: that of the App, its key, the
 * installation and the repository, so that nobody is answered from what another token has seen. Fails with what `tokenFor`
 * fails with.
 */
export async function appLoginFor<C extends Calls>(
  calls: C,
  use: AppTokenUse,
  tokenFor: TokenFor,
): Promise<LoginOf[C]> {
  return MAKERS[calls](use, await tokenFor(use))
}

const MAKERS: { readonly [C in Calls]: (use: AppTokenUse, issued: AppToken) => LoginOf[C] } = {
  git: (use, issued) => ({
    method: 'password',
    username: usernameAt(use.target),
    password: issued.token,
    ...common(use, issued),
  }),
  api: (use, issued) => ({ username: undefined, secret: issued.token, ...common(use, issued) }),
}

function usernameAt({ host }: Target): string {
  return host?.tokenUsername ?? USUAL_TOKEN_USERNAME
}

function common(
  { app, target }: AppTokenUse,
  { token, counted, forget }: AppToken,
): Pick<ApiLogin, 'identity' | 'secrets' | 'issued'> {
  const { source, id, keyDigest, secrets } = app
  return {
    identity: identityOf(source, ['app', id, keyDigest, counted, target.address.text, target.calls]),
    secrets: [...secrets, token, `${usernameAt(target)}:${token}`],
    issued: { counted, forget },
  }
}
