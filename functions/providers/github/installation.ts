import type { App } from '../../domain/credentials/app.ts'
import { isRecord, member, textMember } from '../../domain/json-value.ts'
import { isSerialNumber } from '../api-answer.ts'
import type { ApiAnswer } from '../api-answer.ts'
import { notUnderstood } from '../api-failure.ts'
import type { TokenPlace } from '../ask-for-token.ts'
import { appFailure, lackOfPermissions, otherAccount, suspended } from './app-errors.ts'
import type { Ask } from './octokit.ts'

/** What includes each level of a permission. */
const INCLUDED: Readonly<Record<string, readonly unknown[]>> = {
  read: ['read', 'write', 'admin'],
  write: ['write', 'admin'],
}

/**
 * The number of the App's installation at the repository, or of the one that it names. Only an App itself can ask for its
 * installations, so another App's number is refused by the host.
 * @throws Failure if there is none, it is suspended, belongs to another account, or lacks a permission
 */
export async function usableInstallation(ask: Ask, place: TokenPlace, app: App): Promise<number> {
  const answer = await lookUp(ask, place, app)
  if (answer.status !== 200) throw appFailure(answer, place, app)
  const { data } = answer
  const id = member(data, 'id')
  const granted = member(data, 'permissions')
  const isNamed = app.installation === undefined || app.installation === String(id)
  if (!isSerialNumber(id) || !isRecord(granted) || !isNamed)
    throw notUnderstood(answer, { shown: place.shown, secrets: app.secrets })
  const [owner = ''] = place.repository
  const account = textMember(member(data, 'account'), 'login')
  if (account?.toLowerCase() !== owner.toLowerCase()) throw otherAccount(place, app)
  if ((member(data, 'suspended_at') ?? null) !== null) throw suspended(place, app)
  const lacking = Object.entries(place.permissions).filter(
    ([name, level]) => INCLUDED[level]?.includes(member(granted, name)) !== true,
  )
  if (lacking.length > 0) throw lackOfPermissions(lacking, place, app)
  return id
}

function lookUp(ask: Ask, { repository }: TokenPlace, { installation }: App): Promise<ApiAnswer> {
  if (installation !== undefined)
    return ask('GET /app/installations/{installation_id}', { installation_id: Number(installation) })
  const [owner, repo] = repository
  return ask('GET /repos/{owner}/{repo}/installation', { owner, repo })
}
