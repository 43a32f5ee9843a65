import type { ApiLogin } from '../../functions/domain/credentials/login.ts'
import { asFailure, Failure } from '../../functions/domain/failure.ts'
import type { Permit } from '../../functions/domain/pull-request/pull-requests.ts'
import type { ApiEndpoint } from '../../functions/domain/repository/target.ts'
import { openHTTP } from '../../functions/http/http.ts'
import { atOnce } from '../../functions/http/share.ts'
import type { InspectedBranch, Inspection } from '../../functions/providers/inspection.ts'
import type { Site } from '../local/site.ts'
import { concealing, failed, withoutPromise, type Step } from '../terminal/steps.ts'
import { INSPECTIONS } from './inspections.ts'

/** What the host's API is asked about. */
export interface Asked {
  readonly endpoint: ApiEndpoint
  readonly shown: string
  readonly login: ApiLogin
  readonly permit: Permit
  /** What each branch is for. */
  readonly branches: Readonly<Record<string, BranchUse>>
}

/** `written`: a commit goes there; `base` and `head` of a pull request have to be there. */
export type BranchUse = 'written' | 'base' | 'head'

const DAY_MS = 86_400_000
/** A token that ends within these days is mentioned as such. */
const SOON_DAYS = 14

/** What the host reports of the token, of the repository, and of the branches. */
export async function tokenSteps(asked: Asked, site: Site, signal: AbortSignal): Promise<readonly Step[]> {
  const { endpoint, shown, login, permit, branches } = asked
  const load = INSPECTIONS[endpoint.host.name]
  if (load === undefined) return []
  const { inspect } = await load()
  const withAPI = openHTTP(site.network)
  const found = await withAPI(endpoint.baseURL, signal, (fetch) =>
    inspect({ ...endpoint, shown, permit, fetch, share: atOnce }, login, Object.keys(branches)),
  ).catch(asFailure)
  if (found instanceof Failure) return [ofFailure(found)]
  return [
    tokenStep(shownOf(found, login), new Date()),
    repositoryStep(found, shown),
    ...found.branches.map((branch) => branchStep(branch, branches[branch.name] ?? 'written')),
  ]
}

/** What a host reports may be what was sent to it. */
function shownOf({ user, scopes, ...rest }: Inspection, { secrets, secret }: ApiLogin): Inspection {
  const shown = concealing([...secrets, secret])
  return { ...rest, user: user && shown(user), scopes: scopes?.map(shown) }
}

/** Whether it is the token that is wrong, or whether nothing was found out. */
function ofFailure(failure: Failure): Step {
  const isAnswer = ['AuthenticationFailed', 'PermissionDenied', 'RepositoryNotFound', 'CredentialsInvalid']
  if (isAnswer.includes(failure.reason)) return failed('token', failure)
  return { step: 'token', state: 'unseen', text: withoutPromise(failure.message), reason: failure.reason }
}

function tokenStep({ user, scopes, expires, issuedFor }: Inspection, now: Date): Step {
  if (issuedFor !== undefined) {
    const text = `The token was issued to an App; repositories that it is for: ${issuedFor}.`
    return { step: 'token', state: 'good', text }
  }
  const ends = expires === undefined ? undefined : Date.parse(expires)
  if (ends !== undefined && ends < now.getTime()) {
    const text = `The token ended on ${expires ?? ''}; put a new one into the Secret.`
    return { step: 'token', state: 'wrong', text, reason: 'AuthenticationFailed' }
  }
  const told = [
    ...(user === undefined ? [] : [`belongs to ${user}`]),
    ...(scopes === undefined ? [] : [`has the scopes ${scopes.length === 0 ? '(none)' : scopes.join(', ')}`]),
    ...(ends === undefined ? [] : [endOf(expires ?? '', Math.floor((ends - now.getTime()) / DAY_MS))]),
  ]
  if (told.length === 0)
    return {
      step: 'token',
      state: 'unseen',
      text: 'The host tells neither user nor scopes nor end of this token.',
    }
  return { step: 'token', state: 'good', text: `The token ${told.join(', ')}.` }
}

function endOf(date: string, days: number): string {
  const soon = days <= SOON_DAYS ? ': replace it soon' : ''
  return `ends on ${date} (in ${days} days${soon})`
}

function repositoryStep({ archived, mayPush, issuedFor }: Inspection, shown: string): Step {
  const step = 'permission'
  const reason = 'PermissionDenied'
  if (archived)
    return {
      step,
      state: 'wrong',
      reason,
      text: `${shown} is archived; have it unarchived, or name another repository.`,
    }
  if (mayPush === false) {
    const text = `The host reports that this token may not push to ${shown}; give its user the right to write, and the token the scope for it.`
    return { step, state: 'wrong', reason, text }
  }
  if (issuedFor !== undefined)
    return { step, state: 'good', text: `The App has the permissions that this needs for ${shown}.` }
  if (mayPush === undefined)
    return { step, state: 'unseen', text: `The host does not tell whether this token may push to ${shown}.` }
  return { step, state: 'good', text: `The host reports that the user of the token may push to ${shown}.` }
}

function branchStep({ name, exists, isProtected, mayPush }: InspectedBranch, use: BranchUse): Step {
  const step = use === 'written' ? 'protection' : use
  if (!exists && use !== 'written') {
    const text = `The branch ${name} is not there; push it, or fix its name in the spec.`
    return { step, state: 'wrong', text, reason: 'HeadNotFound' }
  }
  if (!exists) return { step, state: 'good', text: `No branch ${name} is there yet.` }
  if (use !== 'written') return { step, state: 'good', text: `The branch ${name} is there.` }
  if (mayPush === false) {
    const text = `The branch ${name} is protected, and this user may not push to it; allow it, or commit to another branch and open a PullRequest.`
    return { step, state: 'wrong', text, reason: 'PushRejected' }
  }
  if (isProtected === true && mayPush === undefined)
    return {
      step,
      state: 'unseen',
      text: `The branch ${name} is protected; whether its rules let this user push shows only at a push.`,
    }
  if (isProtected === undefined)
    return { step, state: 'unseen', text: `The host does not tell whether the branch ${name} is protected.` }
  const how = isProtected ? 'is protected, and this user may push to it' : 'is not protected'
  return { step, state: 'good', text: `The branch ${name} ${how}.` }
}
