import t from 'tap'
import { fieldError } from '../../../functions/domain/field-error.ts'
import { judgeSecrets } from '../../../functions/domain/gate/secrets.ts'
import { readable } from '../fixtures/parsed.ts'
import { reviewContext } from '../fixtures/review-context.ts'

const SPEC = { credentials: { secretName: 'git' } }
const SECRET = { group: '', version: 'v1', resource: 'secrets', namespace: 'shop', name: 'git' }
const SENTENCE =
  'The Secret git in the namespace shop is not one that developer may `get`, or may `use` for this repository (`use` counts only while the annotation commitlet.dev/allowed-repositories of the Secret covers it); ask the owner of the Secret, or name another one.'

for (const [title, allowed, rights, verbs] of [
  ['a user who may get it needs no second review', ['get', 'use'], { 'spec.credentials': 'get' }, ['get']],
  ['a user who may use it may not get it', ['use'], { 'spec.credentials': 'use' }, ['get', 'use']],
  ['a user who may do neither has no right', [], {}, ['get', 'use']],
] as const) {
  t.test(title, async (t) => {
    const world = reviewContext({
      review: ({ verb }) => Promise.resolve(allowed.some((one) => one === verb)),
    })
    const verdict = await judgeSecrets(SPEC, [], world)
    t.strictSame(verdict.rights, rights)
    t.strictSame(
      world.reviewed,
      verbs.map((verb) => ({ ...SECRET, verb })),
    )
    const field = 'spec.credentials.secretName'
    const refusal = { reason: 'ReferenceForbidden', field, message: SENTENCE }
    t.same(verdict.fieldErrors, allowed.length === 0 ? [refusal] : [])
  })
}

t.test('each Secret has a right of its own', async (t) => {
  const spec = { ...SPEC, fallbackCredentials: { secretName: 'spare' } }
  const world = reviewContext({
    review: ({ name, verb }) => Promise.resolve(name === 'spare' && verb === 'use'),
  })
  t.match(await judgeSecrets(spec, [], world), {
    fieldErrors: [{ field: 'spec.credentials.secretName' }],
    rights: { 'spec.fallbackCredentials': 'use' },
  })
})

t.test('a Secret that is named twice is refused once', async (t) => {
  const world = reviewContext({ review: () => Promise.resolve(false) })
  const { fieldErrors } = await judgeSecrets({ ...SPEC, fallbackCredentials: SPEC.credentials }, [], world)
  t.same(
    fieldErrors.map(({ field }) => field),
    ['spec.credentials.secretName'],
  )
})

for (const [title, spec, found] of [
  ['credentials that are text', { credentials: 'git' }, []],
  ['a name that is a number', { credentials: { secretName: 5 } }, []],
  ['an empty name', { credentials: { secretName: '' } }, []],
  ['credentials that are null', { credentials: null }, []],
  ['credentials that are missing', {}, ['spec.credentials']],
  ['a name that is invalid', SPEC, ['spec.credentials.secretName']],
] as const) {
  t.test(`no right is checked for ${title}`, async (t) => {
    const world = reviewContext()
    const fieldErrors = found.map((field) => fieldError(field, 'is faulty.'))
    t.strictSame(await judgeSecrets(readable('GitCommit', spec).spec, fieldErrors, world), {
      fieldErrors: [],
      rights: {},
    })
    t.strictSame(world.reviewed, [])
  })
}

const DEFAULT = {
  verb: 'use',
  group: 'commitlet.dev',
  version: 'v1',
  resource: 'defaultcredentials',
  namespace: 'shop',
  name: 'default',
}
const NO_DEFAULT =
  "spec.credentials is missing, and developer may not `use` the operator's default credentials (defaultcredentials.commitlet.dev) in the namespace shop; name a Secret there, or ask for that right."

for (const [title, spec] of [
  ['no credentials', {}],
  ['credentials of the prototype', JSON.parse('{"__proto__":{"credentials":{"secretName":"git"}}}')],
] as const) {
  t.test(`with ${title} the right to the default credentials of the namespace is checked`, async (t) => {
    const permitted = reviewContext()
    t.strictSame(await judgeSecrets(readable('GitCommit', spec).spec, [], permitted), {
      fieldErrors: [],
      rights: {},
    })
    t.strictSame(permitted.reviewed, [DEFAULT])
    const refused = reviewContext({ review: () => Promise.resolve(false) })
    t.strictSame(await judgeSecrets(readable('GitCommit', spec).spec, [], refused), {
      fieldErrors: [{ reason: 'ReferenceForbidden', field: 'spec.credentials', message: NO_DEFAULT }],
      rights: {},
    })
  })
}

t.test('a fallback without credentials needs both rights', async (t) => {
  const world = reviewContext({ review: () => Promise.resolve(false) })
  const { fieldErrors } = await judgeSecrets({ fallbackCredentials: { secretName: 'git' } }, [], world)
  t.strictSame(
    fieldErrors.map(({ field }) => field),
    ['spec.credentials', 'spec.fallbackCredentials.secretName'],
  )
})

t.test('a resource in no namespace may use no Secret, and no right is checked', async (t) => {
  const world = reviewContext({ namespace: '' })
  t.match(await judgeSecrets(SPEC, [], world), {
    fieldErrors: [{ reason: 'ReferenceForbidden' }],
    rights: {},
  })
  t.strictSame(world.reviewed, [])
})
