import t from 'tap'
import { failureOf } from '../../../functions/domain/gate/gate.ts'
import { judge, parseResource } from '../fixtures/parsed.ts'
import { parse } from '../../../functions/domain/schema/parse.ts'
import type { Schema } from '../../../functions/domain/crd/schema.ts'
import { unknownFields } from '../../../functions/domain/schema/unknown-fields.ts'
import { gitCommit, SPEC } from '../fixtures/gitcommit.ts'
import { reviewContext } from '../fixtures/review-context.ts'

const METADATA = { name: 'x', namespace: 'shop', uid: 'u', generation: 1, resourceVersion: '1' }

function stored(spec: unknown): unknown {
  return { ...Object(gitCommit(spec)), metadata: METADATA }
}

for (const [title, spec, field] of [
  ['at the top', { ...SPEC, timestamping: {} }, 'spec.timestamping'],
  [
    'further down',
    { ...SPEC, resourceRef: { ...SPEC.resourceRef, field: '.data' } },
    'spec.resourceRef.field',
  ],
  [
    'in place of one that is required',
    { repository: SPEC.repository, message: 'x', credentials: SPEC.credentials, follow: [] },
    'spec.follow',
  ],
] as const) {
  t.test(
    `an unknown field ${title} is not supported yet: denied at apply, retried later in an attempt`,
    async (t) => {
      const verdict = await judge(gitCommit(spec), reviewContext())
      t.match(verdict.fieldErrors[0], { field, reason: 'NotSupported', retry: 'slow' })
      t.match(failureOf(verdict), { reason: 'NotSupported', retry: 'slow' })
      t.throws(() => parseResource(stored(spec)), { name: 'Failure', reason: 'NotSupported', retry: 'slow' })
    },
  )
}

t.test('a spec without unknown fields is read as before', async (t) => {
  t.strictSame((await judge(gitCommit(SPEC), reviewContext())).fieldErrors, [])
  t.strictSame(parseResource(stored(SPEC)).spec, SPEC)
})

t.test('a name that is not a plain identifier is not repeated', async (t) => {
  const names = [
    'ghp_0123456789',
    'a94a8fe5ccb19ba61c4c0873d391e987982fbbd3',
    'x'.repeat(64),
    'S3cret',
    'a b',
    '__proto__',
    '',
  ]
  for (const name of names) {
    const spec: unknown = JSON.parse(JSON.stringify(SPEC).replace('{', `{${JSON.stringify(name)}:1,`))
    const [found, ...others] = parse(gitCommit(spec)).fieldErrors
    t.match(found, { field: 'spec', reason: 'NotSupported', retry: 'slow' })
    t.strictSame(others, [])
    if (name.length > 3) t.notOk(JSON.stringify(found).includes(name), name)
  }
})

t.test('fields within the items of a list are found, and at most ten are reported', async (t) => {
  const text: Schema = { type: 'string', description: 'A text.' }
  const item: Schema = { type: 'object', description: 'An item.', properties: { path: text } }
  const list: Schema = { type: 'array', description: 'A list.', maxItems: 3, items: item }
  const fields = (value: unknown) => unknownFields(value, list, 'spec.files').map(({ field }) => field)
  t.strictSame(fields([{ path: 'a' }, { path: 'b', mode: 'x' }]), ['spec.files[1].mode'])
  t.strictSame(fields([{}, {}, {}, { mode: 'x' }]), [], 'the list is too long already')
  const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`a${index}`, 1]))
  t.equal(fields([many, many]).length, 10)
  t.strictSame(fields('none'), [])
  t.strictSame(fields([1, null, 'x']), [])
})
