import t from 'tap'
import { apiSteps } from '../../../cli/doctor/api-steps.ts'
import { partSteps } from '../../../cli/doctor/part-steps.ts'
import { rightsSteps } from '../../../cli/doctor/rights-steps.ts'
import { webhookSteps } from '../../../cli/doctor/webhook-steps.ts'
import type { Step } from '../../../cli/terminal/steps.ts'
import { member } from '../../../functions/domain/json-value.ts'
import { configuration, EXPIRED, installed, NOW, PATHS, pod, WHOLE, type Answers } from './stage.ts'

// What is missing or wrong in an installation; what the API server really answers is in doctor.test.ts.
const LOOKS = [apiSteps, webhookSteps, rightsSteps, partSteps] as const

async function all(answers: Answers = {}): Promise<readonly Step[]> {
  const place = installed(answers)
  const steps: Step[] = []
  for (const look of LOOKS) steps.push(...(await look(place)))
  return steps
}

t.test('a whole installation', async (t) => {
  const steps = await all()
  t.same(
    steps.filter(({ state }) => state !== 'good'),
    [],
  )
  t.equal(steps.length, 15)
  t.notMatch(JSON.stringify(steps), 'c2VjcmV0')
})

/** A copy of the template of a part with other members in its first container. */
function withContainer(path: string, change: object): object {
  const object = structuredClone(WHOLE[path]) as { spec: { template: { spec: { containers: object[] } } } }
  const { containers } = object.spec.template.spec
  containers[0] = { ...containers[0], ...change }
  return object
}

function withSecret(path: string, secretName: string): object {
  const object = structuredClone(WHOLE[path]) as {
    spec: { template: { spec: { volumes: { name: string; secret?: object }[] } } }
  }
  for (const volume of object.spec.template.spec.volumes)
    if (volume.name === 'stamp-key') volume.secret = { secretName }
  return object
}

function olderKind(): object {
  const object = structuredClone(WHOLE[PATHS.gitcommits]) as object
  const [version] = member(member(object, 'spec'), 'versions') as object[]
  const schema = member(member(version, 'schema'), 'openAPIV3Schema')
  delete (member(member(member(schema, 'properties'), 'spec'), 'properties') as { files?: unknown }).files
  return object
}

const stale = new Date(NOW.getTime() - 600_000).toISOString()
const CASES: readonly (readonly [string, Answers, string, Partial<Step>, RegExp])[] = [
  [
    'an old cluster',
    { [PATHS.version]: { gitVersion: 'v1.30.1', minor: '30+' } },
    'Kubernetes',
    { state: 'wrong' },
    /1\.32/,
  ],
  ['no kinds', { [PATHS.gitcommits]: 404 }, 'GitCommit', { state: 'wrong' }, /not installed/],
  [
    'a kind of an older release',
    { [PATHS.gitcommits]: olderKind() },
    'GitCommit',
    { state: 'wrong' },
    /lacks spec\.files/,
  ],
  [
    'a kind that is not established',
    { [PATHS.pullrequests]: {} },
    'PullRequest',
    { state: 'wrong' },
    /not established/,
  ],
  [
    'kinds that may not be read, and are served',
    { [PATHS.gitcommits]: 403, '/apis/commitlet.dev/v1': { resources: [{ name: 'gitcommits' }] } },
    'GitCommit',
    { state: 'good' },
    /is served/,
  ],
  [
    'kinds that are not served',
    { [PATHS.gitcommits]: 403 },
    'GitCommit',
    { state: 'wrong' },
    /does not serve/,
  ],
  ['no version', { [PATHS.version]: 403 }, 'Kubernetes', { state: 'unseen' }, /may not read/],
  [
    'no webhook configuration',
    { [PATHS.mutating]: 404 },
    'mutating webhook',
    { state: 'wrong' },
    /nobody stamps/,
  ],
  [
    'one that may not be read',
    { [PATHS.mutating]: 403 },
    'mutating webhook',
    { state: 'unseen', needed: true },
    /operator/,
  ],
  [
    'one that lets pass',
    { [PATHS.validating]: configuration('x', 'Ignore') },
    'validating webhook',
    { state: 'wrong' },
    /Fail/,
  ],
  [
    'no authority',
    { [PATHS.mutating]: configuration(undefined) },
    'mutating webhook',
    { state: 'wrong' },
    /no caBundle/,
  ],
  [
    'nonsense as authority',
    { [PATHS.mutating]: configuration('eA==') },
    'mutating webhook',
    { state: 'wrong' },
    /no certificate/,
  ],
  [
    'no certificate of its own',
    { [PATHS.webhook]: withContainer(PATHS.webhook, { env: [{ name: 'TLS_SECRET', value: 'own' }] }) },
    'certificate',
    { state: 'wrong' },
    /no Secret own/,
  ],
  ['no certificate', { [PATHS.tls]: 404 }, 'certificate', { state: 'wrong' }, /commitlet-webhook-tls/],
  ['an empty one', { [PATHS.tls]: { data: {} } }, 'certificate', { state: 'wrong' }, /no certificate/],
  ['one that may not be read', { [PATHS.tls]: 403 }, 'certificate', { state: 'unseen' }, /unseen/],
  [
    'a webhook that is not reached',
    {
      [PATHS.dryRun]: {
        message:
          'failed calling webhook "mutate.commitlet.dev": failed to call webhook: no endpoints available',
      },
    },
    'admission',
    { state: 'wrong' },
    /no endpoints available/,
  ],
  [
    'a webhook that is not asked',
    { [PATHS.dryRun]: { message: 'spec.message: Required' } },
    'admission',
    { state: 'wrong' },
    /not refused/,
  ],
  ['who may not create', { [PATHS.dryRun]: 403 }, 'admission', { state: 'unseen', needed: true }, /create/],
  [
    'rights that are missing',
    { [PATHS.reviews]: { status: { allowed: false } } },
    'rights of function',
    { state: 'wrong' },
    /patch gitcommits\/status/,
  ],
  [
    'rights that may not be asked for',
    { [PATHS.reviews]: 403 },
    'rights of webhook',
    { state: 'unseen', needed: true },
    /operator/,
  ],
  [
    'rights that are not reviewed',
    { [PATHS.reviews]: 500 },
    'rights of webhook',
    { state: 'unseen', needed: true },
    /no review of access \(HTTP 500\)/,
  ],
  ['no webhook', { [PATHS.webhook]: 404 }, 'webhook', { state: 'wrong' }, /not installed/],
  [
    'a part that may not be read',
    { [PATHS.webhook]: 403 },
    'webhook',
    { state: 'unseen', needed: true },
    /Deployment/,
  ],
  ['no function', { [PATHS.knative]: 404 }, 'function', { state: 'wrong' }, /not installed/],
  [
    'the function as a Deployment',
    { [PATHS.knative]: 404, [PATHS.deployment]: WHOLE[PATHS.knative] ?? {} },
    'function',
    { state: 'good' },
    /image/,
  ],
  ['pods that may not be listed', { [PATHS.pods]: 403 }, 'pods', { state: 'unseen', needed: true }, /pods/],
  ['no pods', { [PATHS.pods]: { items: [] } }, 'pods', { state: 'unseen' }, /scaled to zero/],
  [
    'a pod that is not ready',
    { [PATHS.pods]: { items: [pod('w', 'x:1', 'False')] } },
    'pods',
    { state: 'wrong' },
    /Not ready: w/,
  ],
  [
    'two versions',
    { [PATHS.pods]: { items: [pod('a', 'x:1'), pod('b', 'x:2')] } },
    'pods',
    { state: 'wrong' },
    /1, 2/,
  ],
  [
    'another version than this',
    { [PATHS.pods]: { items: [pod('a', 'x:1')] } },
    'pods',
    { state: 'good' },
    /this command is 0\.1\.0/,
  ],
  [
    'no stamp key',
    { [PATHS.webhook]: withContainer(PATHS.webhook, { env: [] }) },
    'stamp key',
    { state: 'wrong' },
    /of the webhook/,
  ],
  ['a stamp key that is not there', { [PATHS.key]: 404 }, 'stamp key', { state: 'wrong' }, /no Secret/],
  [
    'two keys that differ',
    { [PATHS.webhook]: withSecret(PATHS.webhook, 'other') },
    'stamp key',
    { state: 'wrong' },
    /differ/,
  ],
  [
    'two Secrets with one key',
    { [PATHS.webhook]: withSecret(PATHS.webhook, 'other'), [PATHS.otherKey]: WHOLE[PATHS.key] ?? {} },
    'stamp key',
    { state: 'good' },
    /same/,
  ],
  [
    'keys that may not be compared',
    { [PATHS.webhook]: withSecret(PATHS.webhook, 'other'), [PATHS.key]: 403 },
    'stamp key',
    { state: 'unseen' },
    /compare/,
  ],
  [
    'no sink',
    { [PATHS.webhook]: withContainer(PATHS.webhook, { env: [] }) },
    'sink',
    { state: 'wrong' },
    /K_SINK/,
  ],
  ['no Lease', { [PATHS.lease]: 404 }, 'sweeps', { state: 'wrong' }, /no Lease/],
  ['a Lease that may not be read', { [PATHS.lease]: 403 }, 'sweeps', { state: 'unseen' }, /Lease/],
  [
    'a Lease that nobody renews',
    { [PATHS.lease]: { spec: { holderIdentity: 'x', renewTime: stale } } },
    'sweeps',
    { state: 'wrong' },
    /600 s ago/,
  ],
  ['a Lease that nobody has', { [PATHS.lease]: { spec: {} } }, 'sweeps', { state: 'wrong' }, /never/],
]

for (const [title, answers, step, expected, says] of CASES)
  t.test(`${step}: ${title}`, async (t) => {
    const found = (await all(answers)).find((one) => one.step === step)
    t.match(found, { ...expected, text: says })
  })

t.test('certificates that have ended, and that end soon', async (t) => {
  const look = (answers: Answers): Promise<readonly Step[]> => webhookSteps(installed(answers, new Date()))
  const [mutating, , certificate] = await look({ [PATHS.mutating]: configuration(EXPIRED) })
  t.match(mutating, { state: 'wrong', text: /ended on/ })
  t.match(certificate, { state: 'wrong', text: /in 0 days; renew it/ })
})
