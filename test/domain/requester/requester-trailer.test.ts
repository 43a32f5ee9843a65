import { createHash } from 'node:crypto'
import t from 'tap'
import { REQUESTED_BY_TRAILERS, requestedBy } from '../../../functions/domain/requester/requester.ts'

const REQUESTER = {
  subject: { username: 'account' },
  username: 'developer',
  displayName: 'developer as account',
}
const DIGEST = createHash('sha256').update('developer').digest('hex')

for (const [title, trailer, value] of [
  ['the name as it is shown to people', 'name', 'developer as account'],
  ['a digest of the user name', 'hash', `sha256:${DIGEST.slice(0, 16)}`],
  ['nothing', 'off', undefined],
] as const) {
  t.test(`a commit shows its requester by ${title}`, async (t) =>
    t.equal(requestedBy(REQUESTER, trailer), value),
  )
}

t.test('the name is the default', async (t) => {
  t.strictSame(REQUESTED_BY_TRAILERS, ['name', 'hash', 'off'])
})
