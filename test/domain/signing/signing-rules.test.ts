import t from 'tap'
import { isSigningRequired } from '../../../functions/domain/signing/operator-signing.ts'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { targetOf } from '../../../functions/domain/repository/target.ts'
import { judge } from '../fixtures/parsed.ts'
import { reviewContext } from '../fixtures/review-context.ts'
import { gitCommit, pullRequest } from '../../harness/memory-world.ts'

const SIGNING = { secretName: 'signing' }
const HERE = 'git.example.com/acme'

t.test('with openpgp the key of the Secret has to be named', async (t) => {
  const format = 'openpgp'
  const { fieldErrors } = await judge(gitCommit({ signing: { ...SIGNING, format } }), reviewContext())
  const field = 'spec.signing.privateKeyKey'
  t.match(fieldErrors, [{ field, reason: 'InvalidSpec', message: /privateKeyKey is missing; name the key/ }])
  t.equal(fieldErrors.length, 1)
  const named = { ...SIGNING, format, privateKeyKey: 'key.asc' }
  t.strictSame((await judge(gitCommit({ signing: named }), reviewContext())).fieldErrors, [])
})

t.test('where the operator demands it, a commit without a key is refused with one sentence', async (t) => {
  const { fieldErrors } = await judge(gitCommit(), reviewContext({ requireSigning: HERE }))
  t.equal(fieldErrors.length, 1)
  t.match(fieldErrors, [
    { field: 'spec.signing', message: /^spec\.signing is missing.*REQUIRE_SIGNING[^.]*\.$/ },
  ])
})

for (const [title, spec, rules] of [
  ['with a key of its own', { signing: SIGNING }, { requireSigning: HERE }],
  ['elsewhere', {}, { requireSigning: 'git.example.com/acme-evil' }],
  ['with the default key', {}, { requireSigning: HERE, defaultSigning: 'git.example.com/acme' }],
  ['with nothing demanded', {}, {}],
] as const)
  t.test(`${title}, it is let through`, async (t) => {
    t.strictSame((await judge(gitCommit(spec), reviewContext(rules))).fieldErrors, [])
  })

const ON_GITHUB = { repository: 'https://github.com/acme/shop.git', commitVia: 'API' }
const ON_SERVER = {
  ...{ repository: 'https://git.example.com/acme/shop.git', commitVia: 'API', provider: 'github' },
  providerConfig: { baseURL: 'https://git.example.com/api/v3' },
}

t.test('what GitHub itself makes is signed; on an Enterprise Server nobody knows', async (t) => {
  const required = reviewContext({ requireSigning: 'github.com,git.example.com' })
  t.strictSame((await judge(gitCommit(ON_GITHUB), required)).fieldErrors, [])
  t.match((await judge(gitCommit(ON_SERVER), required)).fieldErrors, [{ field: 'spec.signing' }])
  t.strictSame((await judge(gitCommit(ON_SERVER), reviewContext())).fieldErrors, [])
})

for (const [title, spec, field, message] of [
  ['together with a key', { ...ON_GITHUB, signing: SIGNING }, 'spec.signing', /set only one of them/],
  [
    'over SSH',
    { ...ON_GITHUB, repository: 'git@github.com:acme/shop.git', credentials: SIGNING },
    'spec.commitVia',
    /https address/,
  ],
  [
    'on another host',
    { ...ON_GITHUB, repository: 'https://gitlab.com/acme/shop.git' },
    'spec.commitVia',
    /provider gitlab; leave it out/,
  ],
  ['on a host that is not known', { commitVia: 'API' }, 'spec.commitVia', /write provider: github/],
  ['by something else', { commitVia: 'Mail' }, 'spec.commitVia', /expected Git or API|Git or API/],
] as const)
  t.test(`commitVia ${title} is one error`, async (t) => {
    const { fieldErrors } = await judge(gitCommit(spec), reviewContext())
    t.match(fieldErrors, [{ field, reason: 'InvalidSpec', message }])
    t.equal(fieldErrors.length, 1)
  })

t.test('the default key of another namespace does not count', async (t) => {
  const rules = { requireSigning: HERE, defaultSigning: 'git.example.com/{namespace}' }
  t.match((await judge(gitCommit(), reviewContext(rules))).fieldErrors, [{ field: 'spec.signing' }])
  t.strictSame((await judge(gitCommit(), reviewContext({ ...rules, namespace: 'acme' }))).fieldErrors, [])
})

t.test('a PullRequest is not signed, and has no such field', async (t) => {
  t.strictSame((await judge(pullRequest(), reviewContext({ requireSigning: 'github.com' }))).fieldErrors, [])
  t.match((await judge(pullRequest({ signing: SIGNING }), reviewContext())).fieldErrors, [
    { field: 'spec.signing' },
  ])
})

t.test('another SSH user does not get around it', async (t) => {
  const target = targetOf('GitCommit', parseRepositoryAddress('ssh://robot@git.example.com/acme/config.git'))
  t.ok(isSigningRequired({ requireSigning: HERE }, target))
})

t.test('the right to the Secret of the key is reviewed, as for credentials', async (t) => {
  const context = reviewContext({ review: async ({ name, verb }) => name !== 'signing' && verb === 'get' })
  const { fieldErrors, secretRights } = await judge(gitCommit({ signing: SIGNING }), context)
  t.match(fieldErrors, [{ field: 'spec.signing.secretName', reason: 'ReferenceForbidden' }])
  t.strictSame(secretRights, { 'spec.credentials': 'get' })
})
