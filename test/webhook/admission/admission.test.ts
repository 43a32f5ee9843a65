import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { isAnnounced, mutate, validate } from '../../../webhook/admission/admission.ts'
import { readReview } from '../../../webhook/admission/review.ts'
import { admissionOver, BY, clusterWith, created, hanging, REQUESTER, updated } from './stage.ts'
import { gitCommit, recordingLog, reviewOf, STAMP_OF_DEVELOPER, stamped } from '../stage.ts'

const REQUESTED_AT = 'commitlet.dev/requested-at'
const STAMPED = { annotations: { [BY]: 'ops', [REQUESTER]: '{"username":"ops"}' } }
const FAULTY = { repository: 'http://git.example.com/acme/shop.git', message: '', resourceRef: 7 }

t.test('both answers name every field error at once, each on its own line', async (t) => {
  for (const decide of [mutate, validate]) {
    const { denial, patch } = await decide(created(gitCommit({}, FAULTY)), admissionOver())
    t.match(denial, { code: 422, reason: 'Invalid', message: /^3 errors have to be fixed:\n- spec\./ })
    const lines = denial?.message.split('\n') ?? []
    for (const field of ['spec.repository', 'spec.message', 'spec.resourceRef']) {
      t.equal(lines.filter((line) => line.includes(field)).length, 1, field)
    }
    t.equal(patch, undefined)
  }
})

t.test('what looks like a token is denied by the name of its field alone, in the metadata too', async (t) => {
  const token = 'xoxb-123456789012-abcdefghij'
  const annotations = { [REQUESTED_AT]: token }
  for (const decide of [mutate, validate]) {
    const request = created(gitCommit({ name: token, annotations }, { message: `Use ${token}` }), {
      name: token,
    })
    const { denial, warnings } = await decide(request, admissionOver())
    t.match(denial, { code: 422, reason: 'Invalid', details: { name: '***' } })
    const fields = denial?.details?.causes.map(({ field }) => field)
    t.strictSame(fields, ['metadata.name', `metadata.annotations[${REQUESTED_AT}]`, 'spec.message'])
    t.notMatch(JSON.stringify([denial, warnings]), token)
  }
})

t.test('a single field error is the whole message', async (t) => {
  const { denial } = await validate(created(gitCommit({}, { message: '' })), admissionOver())
  t.match(denial?.message, /^spec\.message [^\n]*\.$/)
})

t.test('a forbidden reference is Forbidden, unless another field is invalid as well', async (t) => {
  const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'other', path: 'a.yaml' }
  const alone = await validate(created(gitCommit({}, { resourceRef })), admissionOver())
  t.match(alone.denial, { code: 403, reason: 'Forbidden', message: /spec\.resourceRef\.namespace/ })
  const both = await validate(created(gitCommit({}, { resourceRef, message: '' })), admissionOver())
  t.match(both.denial, { code: 422, reason: 'Invalid' })
  const anywhere = await validate(
    created(stamped({}, { resourceRef })),
    admissionOver({ settings: { referenceScope: 'any' } }),
  )
  t.equal(anywhere.denial, undefined)
})

t.test('a kind that the cluster does not know is a warning', async (t) => {
  const { denial, warnings } = await validate(
    created(stamped()),
    admissionOver({ cluster: { discover: async () => undefined } }),
  )
  t.equal(denial, undefined)
  t.match(warnings, [/ConfigMap/])
})

const EMPTY = { annotations: { ...STAMPED.annotations, [REQUESTED_AT]: '' } }
const ASKED = { annotations: { ...STAMPED.annotations, [REQUESTED_AT]: '2026-01-01T00:00:00Z' } }

for (const [title, request, warned] of [
  [
    'with a new resource',
    created(stamped({ annotations: { ...STAMP_OF_DEVELOPER, [REQUESTED_AT]: '' } })),
    true,
  ],
  ['where there was none', updated(gitCommit(STAMPED), gitCommit(EMPTY)), true],
  ['once more', updated(gitCommit(EMPTY), gitCommit(EMPTY)), false],
  ['in place of it', updated(gitCommit(EMPTY), gitCommit(STAMPED)), false],
] as const) {
  t.test(`an empty requested-at ${title} is ${warned ? '' : 'not '}warned of, and passes`, async (t) => {
    const { denial, warnings = [] } = await validate(request, admissionOver())
    t.equal(denial, undefined)
    t.equal(warnings.length, warned ? 1 : 0)
    if (warned)
      t.equal(
        warnings[0],
        'metadata.annotations: commitlet.dev/requested-at is empty, which requests nothing; write a value that it has not had before, such as "$(date -u +%FT%TZ)".',
      )
  })
}

t.test('an empty requested-at changes nothing, and sends no event', async (t) => {
  const request = updated(gitCommit(STAMPED), gitCommit(EMPTY))
  t.strictSame(await mutate(request, admissionOver()), { patch: [] })
  t.equal(isAnnounced(request, {}), false)
  const emptied = updated(
    gitCommit(ASKED),
    gitCommit({ annotations: { ...STAMP_OF_DEVELOPER, [REQUESTED_AT]: '' } }),
  )
  t.match(await validate(emptied, admissionOver()), {
    warnings: [/^metadata\.annotations: commitlet\.dev\/requested-at is empty/],
  })
})

t.test('a long requested-at is refused with a new resource, and where it is set', async (t) => {
  const long = gitCommit({ annotations: { ...STAMP_OF_DEVELOPER, [REQUESTED_AT]: 'x'.repeat(200_000) } })
  for (const request of [created(long), updated(gitCommit(STAMPED), long)])
    t.match(await mutate(request, admissionOver()), {
      denial: { code: 422, message: /requested-at\] has 200000 characters, more than 253;/ },
    })
})

const DELETED = { deletionTimestamp: '2026-01-01T00:00:00Z' }

t.test('a resource that only pretends to be deleted is judged', async (t) => {
  for (const deletionTimestamp of [null, '', 5, '0001-01-01T00:00:00Z', '2030-01-01T00:00:00Z']) {
    const object = gitCommit({ deletionTimestamp }, FAULTY)
    for (const request of [created(object), updated(gitCommit(), object)])
      t.match(await mutate(request, admissionOver()), { denial: { code: 422 } }, String(deletionTimestamp))
  }
})

for (const [title, request] of [
  ['a deletion', readReview(reviewOf(null, { operation: 'DELETE', oldObject: gitCommit() }))],
  ['a connection', created(gitCommit({}, FAULTY), { operation: 'CONNECT' })],
  ['a subresource', created(gitCommit({}, FAULTY), { subResource: 'status' })],
  ['an update without an object', updated(gitCommit(), null)],
  ['a resource that is being deleted', updated(gitCommit(DELETED), gitCommit(DELETED, FAULTY))],
  [
    'an update of labels, finalizers and other annotations',
    updated(
      gitCommit({}, FAULTY),
      gitCommit({ labels: { a: 'b' }, finalizers: ['x/y'], annotations: { a: 'b' } }, FAULTY),
    ),
  ],
] as const) {
  t.test(`${title} passes untouched and unannounced`, async (t) => {
    t.strictSame(await mutate(request, admissionOver()), {})
    t.strictSame(await validate(request, admissionOver()), {})
    t.equal(isAnnounced(request, {}), false)
  })
}

const AT = { annotations: { ...STAMPED.annotations, 'commitlet.dev/requested-at': '2026-01-01T00:00:00Z' } }

for (const [title, request, announced] of [
  ['a new resource', created(gitCommit()), true],
  ['a changed spec', updated(gitCommit(), gitCommit({}, { message: 'y' })), true],
  ['a new requested-at', updated(gitCommit(STAMPED), gitCommit(AT)), true],
  ['a dry run', created(gitCommit(), { dryRun: true }), false],
  ['a stamp that is put back', updated(gitCommit(STAMPED), gitCommit()), false],
] as const) {
  t.test(`${title} is ${announced ? '' : 'not '}announced`, async (t) =>
    t.equal(isAnnounced(request, {}), announced),
  )
}

t.test('a denied resource is not announced', async (t) => {
  const denial = { code: 422, reason: 'Invalid', message: 'no' }
  t.equal(isAnnounced(created(gitCommit()), { denial }), false)
})

for (const [title, error, reason] of [
  [
    'an API server that is down',
    new Failure('NetworkError', 'The API server could not be reached.'),
    'NetworkError',
  ],
  ['a bug', new TypeError('x is not a function'), 'Internal'],
] as const) {
  t.test(`${title} denies with the advice to retry, and is logged`, async (t) => {
    const { log, lines } = recordingLog()
    const admission = admissionOver({ cluster: { discover: () => Promise.reject(error) }, log })
    const { denial } = await mutate(created(gitCommit()), admission)
    t.match(denial, {
      code: 503,
      reason: 'ServiceUnavailable',
      message: new RegExp(`\\(${reason}\\).*try again\\.$`),
    })
    t.notMatch(denial?.message, 'not a function')
    t.match(lines, [{ reason, namespace: 'shop', name: 'settings', msg: 'admission could not be decided' }])
  })
}

t.test('a cluster that does not answer in time denies before the API server gives up', async (t) => {
  const { denial } = await validate(
    created(gitCommit()),
    admissionOver({ cluster: { discover: hanging }, deadlines: { decideMs: 20, lookMs: 20 } }),
  )
  t.match(denial, { code: 503, message: /\(Timeout\)/ })
})

t.test('a review that gives way to others is decided no further', async (t) => {
  const why = new Failure('Timeout', 'Others need its room.')
  const [deciding, looking] = [new AbortController(), new AbortController()]
  const giveUp = (ending: AbortController): Promise<never> => {
    ending.abort(why)
    return hanging()
  }
  const readSecret = (): Promise<never> => giveUp(looking)
  const undecided = admissionOver({ cluster: { discover: () => giveUp(deciding), readSecret } })
  const { denial } = await validate({ ...created(stamped()), givenUp: deciding.signal }, undecided)
  t.match(denial, { code: 503 })
  t.notOk(looking.signal.aborted, 'no Secret was read')
  const admission = admissionOver({ cluster: { readSecret } })
  t.same(await validate({ ...created(stamped()), givenUp: looking.signal }, admission), { warnings: [] })
  t.ok(looking.signal.aborted)
})

const OTHERS = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'other', path: 'a.yaml' }

for (const [title, spec, changes] of [
  ['schema and rules', FAULTY, {}],
  ['a scope', { resourceRef: OTHERS }, {}],
  ['a repository that the operator refuses', {}, { settings: { allowedRepositories: 'github.com' } }],
  ['no right to the object', {}, { may: /^use|secrets$/ }],
  ['no right to the Secret', {}, { may: /^get configmaps$/ }],
  ['no right at all', { message: '' }, { may: /^$/ }],
] as const) {
  t.test(`/mutate and /validate answer the same field errors, also for a dry run: ${title}`, async (t) => {
    const { may = /^/, settings = {} } = { may: undefined, settings: undefined, ...changes }
    const cluster = clusterWith()
    cluster.mayAccess = (_user, { verb, resource }) => may.test(`${verb} ${resource}`)
    const admission = admissionOver({ cluster, settings })
    const answers = []
    for (const dryRun of [false, true]) {
      for (const decide of [mutate, validate]) {
        answers.push(await decide(created(stamped({}, spec), { dryRun }), admission))
      }
    }
    t.match(answers[0], { denial: { code: /^(403|422)$/, message: / /, reason: /^(Forbidden|Invalid)$/ } })
    for (const answer of answers) t.strictSame(answer, answers[0])
  })
}

t.test('10,000 levels in the spec are a field error, not a crash', async (t) => {
  const deep = JSON.parse('{"a":'.repeat(10_000) + '1' + '}'.repeat(10_000))
  const { denial } = await validate(
    updated(gitCommit(), gitCommit({}, { resourceRef: deep, message: deep })),
    admissionOver(),
  )
  t.match(denial, { code: 422 })
})

t.test('suspend alone is announced and not reviewed, whoever changes it', async (t) => {
  const cluster = clusterWith()
  cluster.mayAccess = () => false
  const admission = admissionOver({ cluster })
  const before = gitCommit({ ...STAMPED, generation: 3 })
  const request = updated(before, gitCommit({ ...STAMPED, generation: 3 }, { suspend: true }))
  const verdict = await mutate(request, admission)
  const noted = '/metadata/annotations/commitlet.dev~1request-generation'
  t.strictSame(verdict, { patch: [{ op: 'add', path: noted, value: '3' }] })
  t.ok(isAnnounced(request, verdict))
  t.same(cluster.reviews, [])
  const annotations = { ...STAMPED.annotations, 'commitlet.dev/request-generation': '3' }
  const after = gitCommit({ annotations, generation: 3 }, { suspend: true })
  t.same(await validate(updated(before, after), admission), { warnings: [] })
})
