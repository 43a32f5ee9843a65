import { sentWith, type ApiLogin } from '../credentials/login.ts'
import { Failure } from '../failure.ts'
import type { PullRequests, ShownPullRequest } from './pull-requests.ts'
import { holdsSecret } from '../redact.ts'

/** What the host received, and for which repository. */
export interface Guard {
  readonly login: ApiLogin
  /** As in ApiCaller. */
  readonly sent?: readonly string[] | undefined
  /** `spec.repository`. */
  readonly shown: string
}

/**
 * The same pull requests, but never with an address that contains the login, or what was sent before it, because addresses
 * are written to the status, the Event and the log. Other values of the Secret, such as a name, may legitimately occur in
 * an address.
 * @throws Failure additionally ProviderUnavailable if the host shows such an address
 */
export function guardedPullRequests(
  pullRequests: PullRequests,
  { login, sent = [], shown }: Guard,
): PullRequests {
  const secrets = [...sent, ...sentWith(login)]
  return {
    find: async (branches, among, keep) => (await pullRequests.find(branches, among, keep)).map(checked),
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

  function checked<T extends ShownPullRequest>(pull: T): T {
    if (!holdsSecret(pull.url, secrets)) return pull
    const message = `The API of ${shown} shows #${pull.number} at an address that contains the token, or the user name and password, so Commitlet does not use it; Commitlet retries automatically, and the operator of the host has to fix the address.`
    throw new Failure('ProviderUnavailable', message)
  }
}
