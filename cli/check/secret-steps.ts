import type { Secret } from '../../functions/cluster/cluster.ts'
import { appIn } from '../../functions/domain/credentials/app.ts'
import { WITHOUT_TOKEN } from '../../functions/domain/credentials/app-login.ts'
import { loginFor } from '../../functions/domain/credentials/login-for.ts'
import { asFailure, Failure } from '../../functions/domain/failure.ts'
import {
  ENTRY_FORM,
  unsoundEntry,
  unsoundPrefix,
} from '../../functions/domain/repository/allowed-repositories.ts'
import { parseRepositoryAddress } from '../../functions/domain/repository/address.ts'
import { targetOf } from '../../functions/domain/repository/target.ts'
import { ALLOWED_PATHS, ALLOWED_REPOSITORIES } from '../../functions/domain/resource/api-names.ts'
import type { Connection } from '../local/connection.ts'
import { failed, type Step } from '../terminal/steps.ts'
import { secretAccess } from './rule-steps.ts'

/** Repositories on a host that nobody has, for the rules that depend on the kind of address alone. */
const ADDRESSES = { https: 'https://git.invalid/a/b.git', ssh: 'git@git.invalid:a/b.git' } as const

/** A Secret by itself: what it is good for, where it may be used, and whether the function may read it. */
export async function secretSteps(
  secret: Secret,
  connection: Pick<Connection, 'accountMay' | 'account'> | undefined,
): Promise<readonly Step[]> {
  const logins = [
    ...appSteps(secret),
    ...(await Promise.all([loginStep(secret, 'https'), loginStep(secret, 'ssh')])),
  ]
  const usable = logins.some(({ state }) => state === 'good')
  // A Secret is for one of both kinds of address.
  const shown = usable ? logins.filter(({ state }) => state === 'good') : logins
  return [
    ...shown,
    repositoriesStep(secret),
    ...pathSteps(secret),
    ...(await accountStep(secret, connection)),
  ]
}

/** The usual names of an App's keys, as in docs/authentication.md. */
const APP_KEYS = { appIDKey: 'app-id', privateKeyKey: 'private-key' } as const

function appSteps(secret: Secret): readonly Step[] {
  if (!secret.data.has(APP_KEYS.appIDKey)) return []
  const step = 'GitHub App'
  try {
    appIn(secret, { secretName: secret.name, ...APP_KEYS })
    return [{ step, state: 'good', text: 'It holds the ID and the private key of a GitHub App.' }]
  } catch (error) {
    return [failed(step, asFailure(error))]
  }
}

async function loginStep(secret: Secret, scheme: keyof typeof ADDRESSES): Promise<Step> {
  const step = scheme === 'https' ? 'HTTPS' : 'SSH'
  const target = targetOf('GitCommit', parseRepositoryAddress(ADDRESSES[scheme]))
  const use = {
    target,
    credentials: { secretName: secret.name },
    operatorHostKeys: undefined,
    tokenFor: WITHOUT_TOKEN,
  }
  const login = await loginFor('git', use, secret).catch(asFailure)
  if (!(login instanceof Failure)) {
    const text = `It holds what an ${step} address needs: a ${login.method === 'key' ? 'private key' : 'token, or a user name and a password'}.`
    return { step, state: 'good', text }
  }
  // The key is sound; which host it is for shows with a repository.
  if (login.reason !== 'HostKeyUnknown') return failed(step, login)
  return { step, state: 'good', text: 'It holds a private key, and host keys for the hosts that it names.' }
}

function repositoriesStep({ annotations }: Secret): Step {
  const step = 'repositories'
  const list = annotations[ALLOWED_REPOSITORIES]
  if (list === undefined) {
    const text = `It has no annotation ${ALLOWED_REPOSITORIES}: whoever may \`get\` it may use it for any repository, and \`use\` alone is not enough.`
    return { step, state: 'good', text }
  }
  if (unsoundEntry(list) === undefined)
    return { step, state: 'good', text: `It is for ${list}, whoever asks.` }
  const text = `The annotation ${ALLOWED_REPOSITORIES} has an entry that is not ${ENTRY_FORM}; fix it.`
  return { step, state: 'wrong', text, reason: 'ReferenceForbidden' }
}

function pathSteps({ annotations }: Secret): readonly Step[] {
  const step = 'paths'
  const list = annotations[ALLOWED_PATHS]
  if (list === undefined) return []
  if (unsoundPrefix(list) === undefined)
    return [{ step, state: 'good', text: `It may write below ${list} alone.` }]
  const text = `The annotation ${ALLOWED_PATHS} has an entry that is not a path in a repository; fix it.`
  return [{ step, state: 'wrong', text, reason: 'ReferenceForbidden' }]
}

async function accountStep(
  { namespace, name }: Secret,
  connection: Pick<Connection, 'accountMay' | 'account'> | undefined,
): Promise<readonly Step[]> {
  if (connection === undefined) return []
  const step = 'function'
  const { access, what } = secretAccess(namespace, name)
  const allowed = await connection.accountMay(access)
  if (allowed === undefined) {
    const text = `You may not create subjectaccessreviews, so the rights of the function's account were not looked at.`
    return [{ step, state: 'unseen', text }]
  }
  if (allowed) return [{ step, state: 'good', text: 'The function may read it.' }]
  const text = `The function (${connection.account.username}) may not \`get\` ${what}; grant it with a Role and a RoleBinding, as in examples/0-rights.yaml.`
  return [{ step, state: 'wrong', text, reason: 'ReferenceForbidden' }]
}
