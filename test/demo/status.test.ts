import t from 'tap'
import { complaintOf, summaryOf, isSettled } from '../../demo/status.ts'

function resource(name: string, status?: object): object {
  const metadata = { name, namespace: 'demo', uid: 'u', generation: 1, resourceVersion: '1' }
  return { kind: 'GitCommit', metadata, ...(status === undefined ? {} : { status }) }
}

const ready = { type: 'Ready', observedGeneration: 1, lastTransitionTime: '2026-01-02T03:04:05Z' }
const succeeded = summaryOf(
  resource('shop', {
    phase: 'Succeeded',
    conditions: [{ ...ready, status: 'True', reason: 'Succeeded', message: 'Committed.' }],
    commit: { sha: '0123456789abcdef', shortSHA: '0123456789ab', branch: 'main', path: 'shop.yaml' },
  }),
)
const failed = summaryOf(
  resource('till', {
    phase: 'Failed',
    conditions: [{ ...ready, status: 'False', reason: 'PushRejected', message: 'The branch is protected.' }],
  }),
)
const fresh = summaryOf(resource('new'))

t.test('a summary is what kubectl get shows', async (t) => {
  t.match(succeeded, {
    name: 'shop',
    ready: 'True',
    reason: 'Succeeded',
    branch: 'main',
    commit: '0123456789ab',
  })
  t.match(failed, { ready: 'False', reason: 'PushRejected', commit: '', message: 'The branch is protected.' })
  t.match(fresh, { ready: '', reason: '', message: '' })
})

t.test('only Succeeded and Failed are settled', async (t) => {
  t.same([succeeded, failed, fresh].map(isSettled), [true, true, false])
})

t.test('the message names the first one that did not succeed, and why', async (t) => {
  t.equal(complaintOf([succeeded]), undefined)
  t.equal(
    complaintOf([succeeded, failed, fresh]),
    '2 of 3 GitCommits did not succeed; till: The branch is protected.',
  )
  t.equal(complaintOf([fresh]), '1 of 1 GitCommits did not succeed; new: it has no status yet.')
})
