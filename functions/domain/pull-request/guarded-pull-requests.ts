import type { ApiLogin } from '../credentials/login.ts'
import { Failure } from '../failure.ts'
import type { PullRequests, ShownPullRequest } from './pull-requests.ts'
import { holdsSecret } from '../redact.ts'

/** What the host got, and which repository it is about. */
export interface Guard {
  readonly login: ApiLogin
  /** `spec.repository`. */
  readonly shown: string
}

/**
 * The same pull requests, none of which is answered with an address that holds the login: it goes into the status, the
 * Event and the log. Of the other values of the Secret a name may well stand in an address.
 * @throws Failure besides: ProviderUnavailable where the host shows such an address
 */
export function guardedPullRequests(pullRequests: PullRequests, { login, shown }: Guard): PullRequests {
  const { username, secret } = login
  const secrets = username === undefined ? [secret] : [secret, `${username}:${secret}`]
  return {
    find: async (branches, among) => (await pullRequests.find(branches, among)).map(checked),
    async read(number, branches) {
      const found = await pullRequests.read(number, branches)
      return found === undefined ? undefined : checked(found)
    },
    async create(draft) {
      const created = await pullRequests.create(draft)
      return created === 'exists' ? created : checked(created)
    },
    update: (found, text) => pullRequests.update(found, text),
    add: (number, detail, names) => pullRequests.add(number, detail, names),
  }

  function checked(pull: ShownPullRequest): ShownPullRequest {
    if (!holdsSecret(pull.url, secrets)) return pull
    const message = `The API of ${shown} shows #${pull.number} at an address that holds the token, or the user name and password, so that it is not taken over; it is tried again, and whoever runs the host has to look.`
    throw new Failure('ProviderUnavailable', message)
  }
}
