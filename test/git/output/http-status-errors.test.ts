import t from 'tap'
import { statusMeaning } from '../../../functions/git/output/http-status-errors.ts'

const rows = [
  [302, 'RepositoryNotFound', /another address/],
  [401, 'AuthenticationFailed', /401/],
  [403, 'PermissionDenied', /403/],
  [404, 'RepositoryNotFound', /not visible/],
  [408, 'ProviderUnavailable', /408/],
  [413, 'PushRejected', /too large/],
  [418, 'PushRejected', /418/],
  [429, 'RateLimited', /fewer requests/],
  [503, 'ProviderUnavailable', /503/],
] as const
for (const [status, reason, sentence] of rows) {
  t.test(`the status ${status} is ${reason}`, async (t) =>
    t.match(statusMeaning(status), { reason, sentence }),
  )
}

t.test('a status that says nothing of the commit is not final: a gateway may ban for a while', async (t) => {
  t.equal(statusMeaning(405).retry, 'slow')
  t.equal(statusMeaning(413).retry, undefined)
})
