import { createSecretKey } from 'node:crypto'
import t from 'tap'
import { stampFor } from '../../../functions/domain/requester/stamp.ts'
import type { Stamp, Stamping } from '../../../functions/domain/requester/stamp.ts'
import { requesterOf } from '../../../functions/domain/requester/requester.ts'
import {
  REQUEST_GENERATION as GENERATION,
  REQUESTED_AT,
  REQUESTED_BY,
  REQUESTER,
  REQUESTER_SIGNATURE,
} from '../../../functions/domain/resource/api-names.ts'
import type { GitCommit, PullRequest } from '../../../functions/domain/resource/resource.ts'
import type { Kind } from '../../../functions/domain/resource/api-names.ts'

const KEY = createSecretKey(Buffer.alloc(48, 7))
const NOW = new Date('2026-03-01T10:00:00Z')
const DELEGATION = { appliers: ['flux'], account: 'commitlet' }
const DEVELOPER = { username: 'developer', uid: 'u-1', groups: ['developers'], extra: { a: ['b'] } }
const STAMPING: Stamping = { user: DEVELOPER, extraKeys: ['a'], delegation: DELEGATION, key: KEY, now: NOW }
const ACCOUNT = {
  username: 'system:serviceaccount:shop:commitlet',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
}
const AGAIN =
  ` who asked for it, because the webhook's stamp is missing or does not match; request it again: kubectl annotate -n shop` +
  ` gitcommits settings commitlet.dev/requested-at="$(date -u +%FT%TZ)" --overwrite`
const UNTOLD = {
  name: 'Failure',
  reason: 'ReferenceForbidden',
  retry: 'never',
  message: `The resource does not say${AGAIN}`,
}
const UNPROVEN = { ...UNTOLD, message: `The resource does not prove${AGAIN}` }

function resource(annotations: Readonly<Record<string, string>>): GitCommit {
  return {
    apiVersion: 'commitlet.dev/v1',
    kind: 'GitCommit',
    metadata: {
      name: 'settings',
      namespace: 'shop',
      uid: 'u',
      generation: 1,
      resourceVersion: '1',
      annotations,
    },
    spec: {
      repository: 'https://git.example.com/acme/shop.git',
      message: 'x',
      credentials: { secretName: 'git' },
      resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', path: 'a.yaml' },
    },
  }
}

/** The resource as the webhook stamps it. */
function stamped(
  stamping: Partial<Stamping> = {},
  annotations: Readonly<Record<string, string>> = {},
): GitCommit {
  const application = { before: undefined, after: resource(annotations), namespace: 'shop' }
  return resource({ ...annotations, ...present(stampFor(application, { ...STAMPING, ...stamping })) })
}

function present(stamp: Stamp): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(stamp).flatMap(([key, text]) => (text === undefined ? [] : [[key, text]])),
  )
}

/** Stamped without a key, with this text for the requester. */
function told(requester: string): GitCommit {
  return resource({ [REQUESTED_BY]: 'developer', [REQUESTER]: requester })
}

const SIGNED = { key: KEY, delegation: DELEGATION, now: NOW }
const UNSIGNED = { key: undefined, delegation: DELEGATION, now: NOW }

t.test('the requester is read as stamped, with groups and the extra that was kept', async (t) => {
  const requester = { subject: DEVELOPER, username: 'developer', displayName: 'developer' }
  t.strictSame(requesterOf(stamped(), SIGNED), requester)
  t.strictSame(requesterOf(stamped({}, { [REQUESTED_AT]: 'now' }), SIGNED), requester)
  t.strictSame(requesterOf(stamped({ key: undefined }), UNSIGNED), requester)
})

t.test('without a key a signature is not looked at', async (t) => {
  t.equal(requesterOf(stamped(), UNSIGNED).username, 'developer')
})

t.test('a delegated applier counts as the account in the stamp', async (t) => {
  const requester = { subject: ACCOUNT, username: 'flux', displayName: `flux as ${ACCOUNT.username}` }
  const user = { username: 'flux', groups: ['system:masters'] }
  t.strictSame(requesterOf(stamped({ user }), SIGNED), requester)
  const noLonger = { ...SIGNED, delegation: { appliers: [], account: 'other' } }
  t.strictSame(requesterOf(stamped({ user }), noLonger), requester)
})

t.test('a user who became a delegate after the stamp was made counts as one', async (t) => {
  const before = stamped({ user: { username: 'flux' }, delegation: { appliers: [], account: 'commitlet' } })
  t.strictSame(requesterOf(before, SIGNED), { subject: ACCOUNT, username: 'flux', displayName: 'flux' })
})

for (const [title, annotations] of [
  ['no annotations', {}],
  ['no name', { [REQUESTER]: '{"username":"developer"}' }],
  ['no requester', { [REQUESTED_BY]: 'developer' }],
] as const) {
  t.test(`a resource with ${title} is not attempted, key or not`, async (t) => {
    t.throws(() => requesterOf(resource(annotations), UNSIGNED), UNTOLD)
    t.throws(() => requesterOf(resource(annotations), SIGNED), UNTOLD)
  })
}

t.test('a resource without any annotations says what to do as well', async (t) => {
  const metadata = { name: 'settings', namespace: 'shop', uid: 'u', generation: 1, resourceVersion: '1' }
  t.throws(() => requesterOf({ ...resource({}), metadata }, UNSIGNED), UNTOLD)
})

const FIT = stamped({}, { [REQUESTED_AT]: '1' })

for (const [title, forged] of [
  ['nothing is signed', stamped({ key: undefined })],
  ['another key signed', stamped({ key: createSecretKey(Buffer.alloc(48, 8)) })],
  ['the spec is another one', { ...FIT, spec: { ...FIT.spec, message: 'y' } }],
  ['the namespace is another one', { ...FIT, metadata: { ...FIT.metadata, namespace: 'other' } }],
  ['requested-at is another one', annotated({ [REQUESTED_AT]: '2' })],
  ['the name for people is another one', annotated({ [REQUESTED_BY]: 'admin' })],
  ['the requester is another one', annotated({ [REQUESTER]: '{"username":"admin"}' })],
  ['the signature is empty', annotated({ [REQUESTER_SIGNATURE]: '' })],
] as const) {
  t.test(`with a key a stamp does not fit where ${title}`, async (t) => {
    const { namespace } = forged.metadata
    const message = UNPROVEN.message.replace('-n shop', `-n ${namespace}`)
    t.throws(() => requesterOf(forged, SIGNED), { ...UNPROVEN, message })
  })
}

function annotated(change: Readonly<Record<string, string>>): GitCommit {
  return { ...FIT, metadata: { ...FIT.metadata, annotations: { ...FIT.metadata.annotations, ...change } } }
}

t.test('the signature of one kind does not fit the other, and the command names the kind', async (t) => {
  const spec = { repository: FIT.spec.repository, baseBranch: 'main', headBranch: 'new', title: 'New' }
  const pull: PullRequest = { ...FIT, kind: 'PullRequest', spec }
  const stampedAs = (kind: Kind): PullRequest => {
    const stamp = stampFor({ before: undefined, after: { ...pull, kind }, namespace: 'shop' }, STAMPING)
    const annotations = { ...FIT.metadata.annotations, ...present(stamp) }
    return { ...pull, metadata: { ...pull.metadata, annotations } }
  }
  t.equal(requesterOf(stampedAs('PullRequest'), SIGNED).username, 'developer')
  const message = UNPROVEN.message.replace('gitcommits', 'pullrequests')
  t.throws(() => requesterOf(stampedAs('GitCommit'), SIGNED), { ...UNPROVEN, message })
})

t.test('a resource of another name that asks for the same may carry the stamp', async (t) => {
  const twin = { ...FIT, metadata: { ...FIT.metadata, name: 'twin' } }
  t.equal(requesterOf(twin, SIGNED).username, 'developer')
})

for (const [title, json] of [
  ['no JSON', '{"username":"developer"'],
  ['nothing', ''],
  ['a list', '["developer"]'],
  ['text', '"developer"'],
  ['null', 'null'],
  ['an object without a user name', '{"groups":["system:masters"]}'],
  ['an empty user name', '{"username":""}'],
  ['a user name through the prototype', '{"__proto__":{"username":"admin"}}'],
  ['an account of another namespace', '{"username":"flux","as":"system:serviceaccount:other:commitlet"}'],
  ['an account with a colon', '{"username":"flux","as":"system:serviceaccount:shop:a:b"}'],
  ['an account without a name', '{"username":"flux","as":"system:serviceaccount:shop:"}'],
  ['a person for an account', '{"username":"flux","as":"admin"}'],
  ['an empty account', '{"username":"flux","as":""}'],
  ['a number for an account', '{"username":"flux","as":5}'],
  ['null for an account', '{"username":"flux","as":null}'],
] as const) {
  t.test(`a requester that is ${title} is nobody`, async (t) => {
    t.throws(() => requesterOf(told(json), UNSIGNED), UNTOLD)
  })
}

t.test('keys of the prototype in the requester are ignored', async (t) => {
  const json =
    '{"username":"developer","__proto__":{"as":"admin","groups":["system:masters"]},"constructor":1}'
  t.strictSame(requesterOf(told(json), UNSIGNED), {
    subject: { username: 'developer' },
    username: 'developer',
    displayName: 'developer',
  })
})

/** A follower as the webhook stamps it. */
function follower(stamping: Partial<Stamping> = {}): GitCommit {
  const following = ({ spec, ...rest }: GitCommit): GitCommit => ({
    ...rest,
    spec: { ...spec, sync: 'OnChange' },
  })
  const application = { before: undefined, after: following(resource({})), namespace: 'shop' }
  return following(resource(present(stampFor(application, { ...STAMPING, ...stamping }))))
}

t.test(
  'the stamp of a follower counts for 90 days, and then the message says how to ask again',
  async (t) => {
    const after = (days: number): Date => new Date(NOW.getTime() + days * 86_400_000)
    t.equal(requesterOf(follower(), { ...SIGNED, now: after(90) }).username, 'developer')
    const tooOld = {
      reason: 'ReferenceForbidden',
      retry: 'never',
      message:
        /follows its sources .* 90 days; ask again: kubectl annotate -n shop gitcommits settings commitlet.dev\/requested-at=/,
    }
    t.throws(() => requesterOf(follower(), { ...SIGNED, now: after(91) }), tooOld)
    t.equal(requesterOf(stamped(), { ...SIGNED, now: after(91) }).username, 'developer', 'no follower')
    const untimed = stampFor({ before: undefined, after: resource({}), namespace: 'shop' }, STAMPING)
    const { spec, ...rest } = resource(present(untimed))
    t.throws(() => requesterOf({ ...rest, spec: { ...spec, sync: 'OnChange' } }, UNSIGNED), tooOld)
  },
)

t.test('the stamp of another generation does not count, and one that names none does', async (t) => {
  const at = (one: GitCommit, generation: number, noted?: string): GitCommit => {
    const annotations = {
      ...one.metadata.annotations,
      ...(noted === undefined ? {} : { [GENERATION]: noted }),
    }
    return { ...one, metadata: { ...one.metadata, generation, annotations } }
  }
  t.throws(() => requesterOf(at(stamped(), 2), SIGNED), UNPROVEN)
  t.throws(() => requesterOf(at(stamped({ key: undefined }), 2), UNSIGNED), UNPROVEN)
  t.equal(requesterOf(at(stamped(), 2, '1'), SIGNED).username, 'developer', 'suspended since')
  t.equal(
    requesterOf(at(told('{"username":"developer"}'), 2), UNSIGNED).username,
    'developer',
    'an older one',
  )
})

t.test('a key that was replaced still verifies, and no other does', async (t) => {
  const [older, oldest] = [createSecretKey(Buffer.alloc(48, 8)), createSecretKey(Buffer.alloc(48, 9))]
  const olderKeys = [older, oldest]
  for (const key of [KEY, older, oldest])
    t.equal(requesterOf(stamped({ key }), { ...SIGNED, olderKeys }).username, 'developer')
  t.throws(() => requesterOf(stamped({ key: oldest }), { ...SIGNED, olderKeys: [older] }), UNPROVEN)
})
