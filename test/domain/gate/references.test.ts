import t from 'tap'
import { fieldError } from '../../../functions/domain/field-error.ts'
import { judgeReferences } from '../../../functions/domain/gate/references.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import { reviewContext } from '../fixtures/review-context.ts'

const MAP = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a' }

function file(i: number, reference: object) {
  return { path: `${i}`, resourceRef: { ...MAP, ...reference } }
}

t.test('every reference is reviewed, but no object twice and no kind looked up twice', async (t) => {
  const valueFrom = { resourceRef: { ...MAP, name: 'c', field: '.data.a' } }
  const set = [{ field: '.a', valueFrom }]
  const files = [file(0, {}), file(1, { field: '.data.a' }), file(2, { name: 'b' }), { path: 'x', set }]
  const world = reviewContext()
  const verdict = await judgeReferences({ files }, [], world)
  t.same(verdict.fieldErrors, [])
  t.same([...verdict.served], [['ConfigMap of v1', { plural: 'configmaps', namespaced: true }]])
  t.same(
    world.reviewed.map(({ name }) => name),
    ['a', 'b', 'c'],
  )
  t.same(world.asked, ['v1 ConfigMap'])
})

t.test('all that is wrong is reported at once, each at its entry', async (t) => {
  const world = reviewContext({ review: ({ name }) => Promise.resolve(name !== 'b') })
  const files = [
    file(0, {}),
    file(1, { name: 'b' }),
    file(2, { namespace: 'other' }),
    file(3, { kind: 'Widget' }),
  ]
  const { fieldErrors, warnings } = await judgeReferences({ files }, [], world)
  t.match(fieldErrors, [
    { reason: 'ReferenceForbidden', field: 'spec.files[1].resourceRef', message: /the ConfigMap b in/ },
    { reason: 'ReferenceForbidden', field: 'spec.files[2].resourceRef.namespace' },
  ])
  t.match(warnings, [/^spec\.files\[3\]\.resourceRef\.kind is Widget of v1, which the cluster does not know/])
})

t.test('a hundred references are reviewed side by side, sixteen at a time', async (t) => {
  let [now, most] = [0, 0]
  const review = async () => {
    most = Math.max(most, ++now)
    await Promise.resolve()
    now -= 1
    return true
  }
  const files = Array.from({ length: 100 }, (_, i) => file(i, { name: `n${i}` }))
  const world = reviewContext({ review })
  await judgeReferences({ files }, [], world)
  t.equal(world.reviewed.length, 100)
  t.equal(most, 16)
})

t.test('a thousand references and thousands of errors elsewhere are compared in a moment', async (t) => {
  const files = Array.from({ length: 1_000 }, (_, i) => file(i, { name: 'a' }))
  const found = Array.from({ length: 10_000 }, (_, i) => fieldError(`spec.files[${i}].content`, 'is faulty.'))
  const began = cpuTime()
  const { fieldErrors } = await judgeReferences({ files }, found, reviewContext())
  t.strictSame(fieldErrors, [])
  const took = cpuTime() - began
  t.ok(took < allowedMs(20), `${took.toFixed(0)} ms`)
})

t.test('of a list that is too long, whose entries no schema has looked at, nothing is asked', async (t) => {
  const odd = { apiVersion: '../../api', kind: 'a/b', name: '../c' }
  const valueFrom = { resourceRef: { ...odd, field: '.a' } }
  const [own, inSet] = [[file(0, odd)], [{ path: 'x', set: [{ field: '.a', valueFrom }] }]]
  for (const [list, files] of [
    ['spec.files', own],
    ['spec.files', inSet],
    ['spec.files[0].set', inSet],
  ] as const) {
    const world = reviewContext()
    const verdict = await judgeReferences({ files }, [fieldError(list, 'is too long.')], world)
    t.same([...world.asked, ...world.reviewed, ...verdict.warnings], [], list)
  }
})
