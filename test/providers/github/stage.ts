import type { Test } from 'tap'
import type { Endpoint, Fetch } from '../../../functions/domain/pull-request/pull-requests.ts'
import type { HostAnswer } from '../../harness/hosts/dialect.ts'
import { github } from '../../harness/hosts/github.ts'
import { startPort } from '../port-stage.ts'
import type { PortStage } from '../port-stage.ts'
import { atOnce } from '../../../functions/http/share.ts'

/** GitHub with acme/shop. */
export function startGitHub(t: Test): Promise<PortStage> {
  return startPort(t, { dialect: github, name: 'github' })
}

/** acme/shop at this address. */
export function endpointAt(baseURL: string, fetch: Fetch): Endpoint {
  return {
    repository: ['acme', 'shop'],
    shown: 'https://localhost/acme/shop.git',
    permit: () => undefined,
    baseURL,
    fetch,
    share: atOnce,
  }
}

/** Makes a changed answer from a true one whose body is an object. */
export function withBody(change: Readonly<Record<string, unknown>>): (answer: HostAnswer) => HostAnswer {
  return (answer) => ({ ...answer, body: { ...(answer.body as object), ...change } })
}
