import t from 'tap'
import { displayName, readUserInfo, serviceAccount } from '../../../functions/domain/requester/user-info.ts'

const WHOLE = {
  username: 'developer',
  uid: 'u-1',
  groups: ['developers', 'system:authenticated'],
  extra: { 'scopes.authorization.openshift.io': ['user:full'] },
}

t.test('a user is read with every known member, and nothing else', async (t) => {
  t.strictSame(readUserInfo({ ...WHOLE, password: 'x' }), WHOLE)
  t.strictSame(readUserInfo({ username: 'developer' }), { username: 'developer' })
  t.strictSame(readUserInfo({ username: 'developer', groups: [], extra: {} }), {
    username: 'developer',
    groups: [],
    extra: {},
  })
})

for (const [title, json] of [
  ['nothing', 'null'],
  ['a list', '["developer"]'],
  ['text', '"developer"'],
  ['an object without a user name', '{}'],
  ['an empty user name', '{"username":""}'],
  ['a number for a user name', '{"username":5}'],
  ['a list for a user name', '{"username":["developer"]}'],
  ['a user name of the prototype', '{"__proto__":{"username":"developer"}}'],
] as const) {
  t.test(`${title} names no user`, async (t) => t.equal(readUserInfo(JSON.parse(json)), undefined))
}

for (const [title, members] of [
  ['a uid that is a number', { uid: 5 }],
  ['groups that are text', { groups: 'system:masters' }],
  ['groups of which one is no text', { groups: ['a', 5] }],
  ['extra that is a list', { extra: [['a']] }],
  ['extra with text for a list', { extra: { a: 'b' } }],
  ['extra with a list of numbers', { extra: { a: [1] } }],
  ['members of null', { uid: null, groups: null, extra: null }],
] as const) {
  t.test(`${title}: left out`, async (t) => {
    t.strictSame(readUserInfo({ username: 'developer', ...members }), { username: 'developer' })
  })
}

t.test('a service account has the name and the groups that its token gives it', async (t) => {
  t.strictSame(serviceAccount('shop', 'commitlet'), {
    username: 'system:serviceaccount:shop:commitlet',
    groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
  })
})

for (const [title, username, shown] of [
  ['a plain name stays', 'system:serviceaccount:shop:deployer', 'system:serviceaccount:shop:deployer'],
  ['line ends and control characters become question marks', 'a\nb\r\tc\u0000\u007f\u0085', 'a?b??c???'],
  ['the reading direction cannot be turned', 'a\u202eb\u2066c\u2028d\u200b', 'a?b?c?d?'],
  ['half a character becomes a question mark', 'a\ud800b', 'a?b'],
  ['letters of any script stay', 'Jörg 山田 😀', 'Jörg 山田 😀'],
  ['256 characters are shown', '😀'.repeat(256), '😀'.repeat(256)],
  ['more end in an ellipsis', '😀'.repeat(257), `${'😀'.repeat(255)}…`],
] as const) {
  t.test(title, async (t) => t.equal(displayName(username), shown))
}
