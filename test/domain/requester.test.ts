import t from 'tap'
import type { Annotations, PatchOperation, UserInfo } from '../../functions/domain/requester.ts'
import { asksAnew, changesStamp, shownName, stampFor, stampPatch } from '../../functions/domain/requester.ts'

const BY = 'commitlet.dev/requested-by'
const REQUESTER = 'commitlet.dev/requester'
const AT = 'commitlet.dev/requested-at'
const EXTRA = ['scopes.authorization.openshift.io']

const DEVELOPER: UserInfo = {
  username: 'developer',
  uid: 'u-1',
  groups: ['developers', 'system:authenticated'],
  extra: { 'scopes.authorization.openshift.io': ['user:full'], 'cloud.example.com/token': ['s3cret'] },
}
const JANE_JSON =
  '{"username":"developer","uid":"u-1","groups":["developers","system:authenticated"],' +
  '"extra":{"scopes.authorization.openshift.io":["user:full"]}}'
const OLD_STAMP = { [BY]: 'joe', [REQUESTER]: '{"username":"joe"}' }

function resource(annotations: Annotations, message = 'x') {
  return { metadata: { name: 'settings', annotations }, spec: { message } }
}

for (const [title, before, after, anew] of [
  ['a new resource asks', undefined, resource(undefined), true],
  ['a changed spec asks', resource(undefined), resource(undefined, 'y'), true],
  ['a new requested-at asks', resource({ [AT]: '1' }), resource({ [AT]: '2' }), true],
  ['a requested-at taken away asks', resource({ [AT]: '1' }), resource(undefined), true],
  ['a label asks for nothing', resource({ a: 'b' }), resource({ a: 'c' }), false],
  ['a stamp asks for nothing', resource(OLD_STAMP), resource({ [BY]: 'forged' }), false],
] as const) {
  t.test(title, async (t) => t.equal(asksAnew({ before, after }), anew))
}

t.test('a changed or removed stamp is noticed', async (t) => {
  const before = resource(OLD_STAMP)
  t.equal(changesStamp({ before, after: resource({ ...OLD_STAMP, a: 'b' }) }), false)
  t.equal(changesStamp({ before, after: resource({ ...OLD_STAMP, [BY]: 'forged' }) }), true)
  t.equal(changesStamp({ before, after: resource({ [BY]: 'joe' }) }), true)
  t.equal(changesStamp({ before, after: resource(null) }), true)
})

t.test('who asks is stamped, whatever was sent, and of extra only the keys that are named', async (t) => {
  const application = { before: undefined, after: resource({ [BY]: 'forged', [REQUESTER]: '{}' }) }
  t.strictSame(stampFor(application, DEVELOPER, EXTRA), { [BY]: 'developer', [REQUESTER]: JANE_JSON })
  t.notMatch(JSON.stringify(stampFor(application, DEVELOPER, EXTRA)), 's3cret')
  t.match(stampFor(application, DEVELOPER, []), { [REQUESTER]: /"groups":\[[^\]]*\]\}$/ })
})

t.test('a user without uid, groups and extra is stamped by name', async (t) => {
  const application = { before: undefined, after: resource(null) }
  t.strictSame(stampFor(application, { username: 'developer' }, EXTRA), {
    [BY]: 'developer',
    [REQUESTER]: '{"username":"developer"}',
  })
})

t.test('an extra key of the prototype is not read', async (t) => {
  const application = { before: undefined, after: resource(null) }
  const stamp = stampFor(application, { username: 'developer', extra: {} }, ['toString', '__proto__'])
  t.equal(stamp[REQUESTER], '{"username":"developer"}')
})

t.test('where nothing is asked the old stamp stays, whoever updates the rest', async (t) => {
  const before = resource(OLD_STAMP)
  t.strictSame(stampFor({ before, after: resource({ [BY]: 'forged' }) }, DEVELOPER, EXTRA), OLD_STAMP)
  t.strictSame(stampFor({ before: resource(null), after: resource(OLD_STAMP) }, DEVELOPER, EXTRA), {
    [BY]: undefined,
    [REQUESTER]: undefined,
  })
})

const STAMP = { [BY]: 'developer', [REQUESTER]: JANE_JSON }
const NONE = { [BY]: undefined, [REQUESTER]: undefined }
const BY_PATH = '/metadata/annotations/commitlet.dev~1requested-by'
const REQUESTER_PATH = '/metadata/annotations/commitlet.dev~1requester'
const WHOLE: PatchOperation[] = [{ op: 'add', path: '/metadata/annotations', value: STAMP }]

for (const [title, sent, stamp, patch] of [
  ['no annotations at all get a map', undefined, STAMP, WHOLE],
  ['annotations of null get a map', null, STAMP, WHOLE],
  ['nothing to say about nothing', undefined, NONE, []],
  ['the right stamp is left alone', { ...STAMP, a: 'b' }, STAMP, []],
  [
    'a foreign stamp without a wanted one is removed',
    { [BY]: 'forged' },
    NONE,
    [{ op: 'remove', path: BY_PATH }],
  ],
  [
    'a foreign stamp is replaced',
    { [BY]: 'forged' },
    STAMP,
    [
      { op: 'add', path: BY_PATH, value: 'developer' },
      { op: 'add', path: REQUESTER_PATH, value: JANE_JSON },
    ],
  ],
] as const) {
  t.test(title, async (t) => t.strictSame(stampPatch(sent, stamp), patch))
}

for (const [title, username, shown] of [
  ['a plain name stays', 'system:serviceaccount:shop:deployer', 'system:serviceaccount:shop:deployer'],
  ['line ends and control characters become question marks', 'a\nb\r\tc\u0000\u007f\u0085', 'a?b??c???'],
  ['the reading direction cannot be turned', 'a\u202eb\u2066c\u2028d\u200b', 'a?b?c?d?'],
  ['half a character becomes a question mark', 'a\ud800b', 'a?b'],
  ['letters of any script stay', 'Jörg 山田 😀', 'Jörg 山田 😀'],
  ['256 characters are shown', '😀'.repeat(256), '😀'.repeat(256)],
  ['more end in an ellipsis', '😀'.repeat(257), `${'😀'.repeat(255)}…`],
] as const) {
  t.test(title, async (t) => t.equal(shownName(username), shown))
}
