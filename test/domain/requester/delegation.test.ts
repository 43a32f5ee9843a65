import t from 'tap'
import { accountNamed, applierOf } from '../../../functions/domain/requester/delegation.ts'

const DELEGATION = { appliers: ['flux', 'system:serviceaccount:argocd:controller'], account: 'deployer' }
const DEPLOYER = {
  username: 'system:serviceaccount:shop:deployer',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
}

t.test(
  'a delegated applier counts as the account of the namespace, with its groups and none of their own',
  async (t) => {
    for (const username of DELEGATION.appliers) {
      const user = { username, groups: ['system:masters'], extra: { a: ['b'] } }
      t.strictSame(applierOf(user, 'shop', DELEGATION), { user, subject: DEPLOYER, as: DEPLOYER.username })
    }
  },
)

t.test('every other user counts as themselves', async (t) => {
  for (const username of [
    'developer',
    'flux2',
    'Flux',
    'system:serviceaccount:argocd:controller2',
    DEPLOYER.username,
  ]) {
    const user = { username, groups: ['developers'] }
    t.strictSame(applierOf(user, 'shop', DELEGATION), { user, subject: user, as: undefined })
  }
  t.equal(applierOf({ username: 'flux' }, 'shop', { appliers: [], account: 'deployer' }).as, undefined)
})

for (const [title, username, account] of [
  ['an account of the namespace is known', 'system:serviceaccount:shop:deployer', DEPLOYER],
  ['an account of another namespace is not one', 'system:serviceaccount:other:deployer', undefined],
  [
    'an account of a namespace of the same length is not one',
    'system:serviceaccount:evil:deployer',
    undefined,
  ],
  ['an account of a longer namespace is not one', 'system:serviceaccount:shop2:deployer', undefined],
  ['a name with a colon is not one', 'system:serviceaccount:shop:x:deployer', undefined],
  ['an account without a name is not one', 'system:serviceaccount:shop:', undefined],
  ['a person is not one', 'deployer', undefined],
  ['a name that only contains an account is not one', 'x system:serviceaccount:shop:deployer', undefined],
  ['an empty name is not one', '', undefined],
] as const) {
  t.test(title, async (t) => t.strictSame(accountNamed(username, 'shop'), account))
}
