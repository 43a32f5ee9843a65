import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { mutate, validate } from '../../../webhook/admission/admission.ts'
import { admissionOver, BY, clusterWith, created, hanging, REQUESTER } from './stage.ts'
import { gitCommit, recordingLog, stamped } from '../stage.ts'

t.test('the rights of the sender are reviewed, with all that the API server sends about them', async (t) => {
  const cluster = clusterWith()
  const userInfo = { username: 'ops', uid: 'u1', groups: ['a', 'b'], extra: { scope: ['c'], token: ['d'] } }
  const request = created(gitCommit(), { userInfo })
  const { patch } = await mutate(request, admissionOver({ cluster, extra: ['scope'] }))
  const asked = cluster.reviews.map(({ access }) => `${access.verb} ${access.resource} ${access.name}`)
  t.strictSame(asked.sort(), ['get configmaps settings', 'get secrets git'])
  for (const { user } of cluster.reviews) t.strictSame(user, userInfo)
  const requester = '{"username":"ops","uid":"u1","groups":["a","b"],"extra":{"scope":["c"]},"generation":1}'
  t.match(patch, [{ value: { [REQUESTER]: requester } }], 'only what may be kept of extra is')
})

t.test('of a user of whom more than 128 KiB are known no right is reviewed', async (t) => {
  const [long, many] = ['x'.repeat(129 * 1024), Array.from({ length: 1_290 }, () => 'x'.repeat(102))]
  const empty = Array.from({ length: 44_000 }, () => '')
  for (const userInfo of [
    { username: long },
    { username: 'ops', uid: long },
    { username: 'ops', groups: many },
    { username: 'ops', extra: { scope: many } },
    { username: 'ops', extra: { [long]: [] } },
    { username: 'ops', groups: empty },
    { username: 'ops', extra: { scope: empty } },
    { username: 'ops', groups: ['\u0001'.repeat(22_000)] },
  ]) {
    const cluster = clusterWith()
    const request = created(gitCommit(), { userInfo })
    for (const decide of [mutate, validate]) {
      const { denial } = await decide(request, admissionOver({ cluster }))
      t.match(denial, {
        code: 422,
        message: /^Your user information .* takes 1(29|3[0-3]) KiB, but may take at most 128 /,
      })
    }
    t.strictSame(cluster.reviews, [])
  }
  const cluster = clusterWith()
  const fewer = created(gitCommit(), { userInfo: { username: 'ops', extra: { scope: many.slice(60) } } })
  t.match(await mutate(fewer, admissionOver({ cluster })), { patch: [{ op: 'add' }] })
  t.equal(cluster.reviews.length, 2)
})

t.test('for a delegated applier, the rights of the account in the namespace count', async (t) => {
  const cluster = clusterWith()
  const applier = 'system:serviceaccount:gitops:controller'
  const settings = { delegation: { appliers: [applier], account: 'applier' } }
  const userInfo = { username: applier, groups: ['system:masters'], extra: { scope: ['c'] } }
  const admission = admissionOver({ cluster, settings, extra: ['scope'] })
  const { patch } = await mutate(created(gitCommit(), { userInfo }), admission)
  const account = 'system:serviceaccount:shop:applier'
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated']
  t.equal(cluster.reviews.length, 2)
  for (const { user } of cluster.reviews) t.strictSame(user, { username: account, groups })
  t.match(patch, [{ value: { [BY]: `${applier} as ${account}` } }])
  t.match(patch, [
    { value: { [REQUESTER]: new RegExp(`"groups":\\["system:masters"\\].*"as":"${account}"`) } },
  ])
  cluster.mayAccess = (user) => user.username === applier
  const { denial } = await mutate(created(gitCommit(), { userInfo }), admission)
  t.match(denial, { code: 403, message: new RegExp(`${account} may not`) })
})

t.test('only /validate reads a Secret, and only for users who may get it', async (t) => {
  const cluster = clusterWith({ 'commitlet.dev/allowed-repositories': 'github.com' })
  const admission = admissionOver({ cluster })
  const request = created(stamped())
  t.strictSame(Object.keys(await mutate(created(gitCommit()), admission)), ['patch'])
  t.match(await validate(request, admission), { denial: undefined, warnings: [/does not allow/] })
  cluster.mayAccess = (_user, { verb, resource }) => resource === 'configmaps' || verb === 'use'
  t.strictSame(await validate(request, admission), { warnings: [] })
})

t.test(
  'a controller that applies for others is warned of what the account in the namespace may get',
  async (t) => {
    const cluster = clusterWith({ 'commitlet.dev/allowed-repositories': 'github.com' })
    const userInfo = { username: 'controller' }
    const settings = { delegation: { appliers: ['controller'], account: 'applier' } }
    const admission = admissionOver({ cluster, settings })
    const mutated = await mutate(created(gitCommit(), { userInfo }), admission)
    const [operation] = 'patch' in mutated ? (mutated.patch ?? []) : []
    const annotations = operation?.op === 'add' ? operation.value : undefined
    const request = created(gitCommit({ annotations }), { userInfo })
    const account = 'system:serviceaccount:shop:applier'
    cluster.mayAccess = (user) => user.username === account
    t.match(await validate(request, admission), { denial: undefined, warnings: [/does not allow/] })
    cluster.mayAccess = (user, { verb, resource }) =>
      user.username === 'controller' || resource === 'configmaps' || verb === 'use'
    t.strictSame(await validate(request, admission), { warnings: [] }, 'what it may itself does not count')
  },
)

for (const [title, readSecret, logged] of [
  ['may not be read', () => Promise.reject(new Failure('ReferenceForbidden', 'no')), []],
  ['is not answered', hanging, [{ reason: 'Timeout' }]],
  [
    'meets an API server that is down',
    () => Promise.reject(new Failure('NetworkError', 'down')),
    [{ reason: 'NetworkError' }],
  ],
  ['meets a bug', () => Promise.reject(new TypeError('s3cr3t')), [{ reason: 'Internal' }]],
] as const) {
  t.test(`a Secret that ${title} prevents the warnings, never the admission`, async (t) => {
    const { log, lines } = recordingLog()
    const deadlines = { decideMs: 5_000, lookMs: 20 }
    const admission = admissionOver({ cluster: { readSecret }, log, deadlines })
    t.strictSame(await validate(created(stamped()), admission), { warnings: [] })
    t.equal(lines.length, logged.length)
    t.match(lines, logged)
    t.notMatch(JSON.stringify(lines), 's3cr3t')
  })
}

t.test('a review that fails denies, and never counts as allowed', async (t) => {
  const reviewAccess = () =>
    Promise.reject(new Failure('ReferenceForbidden', 'The account may not ask.', { retry: 'slow' }))
  for (const decide of [mutate, validate]) {
    const { denial } = await decide(created(stamped()), admissionOver({ cluster: { reviewAccess } }))
    t.match(denial, { code: 503, message: 'The account may not ask.' })
  }
})
