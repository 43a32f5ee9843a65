import t from 'tap'
import type { Test } from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import { readConfig } from '../../webhook/config.ts'
import { buildWebhook } from '../../webhook/webhook.ts'
import type { WebhookWorld } from '../../webhook/webhook.ts'
import { makeAuthority } from '../harness/certificates.ts'
import { memoryCluster } from '../harness/memory-cluster.ts'
import { recordingMeter } from '../harness/recording-meter.ts'
import { waitFor } from '../harness/wait.ts'
import { call, gitCommit, recordingLog, reviewOf, stamped, startSink, writePair } from './stage.ts'

const authority = await makeAuthority()

async function start(t: Test, cluster: WebhookWorld['cluster'] = memoryCluster()) {
  const sink = await startSink()
  t.teardown(() => sink.close())
  const tls = await writePair(t.testdir({}), authority)
  const { meter, recorded, read } = recordingMeter()
  const env = { PORT: '0', K_SINK: sink.url.href, SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' }
  const { log } = recordingLog()
  const world = { cluster, log, meter, uuid: () => 'event-1' }
  const webhook = await buildWebhook({ ...readConfig(env), tls }, world)
  const port = await webhook.listen('127.0.0.1')
  t.teardown(() => webhook.drain(0))
  const post = (path: string, review: unknown) =>
    call({ port, ca: authority.certPEM }, path, JSON.stringify(review))
  const ofName = (name: string) => recorded.filter(([one]) => one === name)
  return { post, ofName, read }
}

t.test('decisions are measured, and denials counted by the reason that the user is told', async (t) => {
  const { post, ofName, read } = await start(t)
  await post('/mutate', reviewOf(gitCommit()))
  await post('/validate', reviewOf(stamped({}, { message: '' })))
  t.match(
    ofName('admission_duration_seconds'),
    [
      ['', { webhook: 'mutate', outcome: 'allowed' }, Number],
      ['', { webhook: 'validate', outcome: 'denied' }, Number],
    ].map(([, ...rest]) => ['admission_duration_seconds', ...rest]),
  )
  const labels = { webhook: 'validate', kind: 'GitCommit', reason: 'InvalidSpec' }
  t.strictSame(ofName('admission_denials_total'), [['admission_denials_total', labels, 1]])
  t.match(read('admission_in_hand'), [{ value: 0 }])
})

t.test('what could not be decided is no denial of the user', async (t) => {
  const reviewAccess = () => Promise.reject(new Failure('NetworkError', 'Gone.'))
  const { post, ofName } = await start(t, { ...memoryCluster(), reviewAccess })
  await post('/mutate', reviewOf(gitCommit()))
  t.match(
    ofName('admission_duration_seconds'),
    [['', { outcome: 'undecided' }]].map(([, o]) => [String, o]),
  )
  t.match(ofName('admission_denials_total'), [[String, { reason: 'ServiceUnavailable' }, 1]])
})

t.test('a delivered event is counted with its time, and none waits afterwards', async (t) => {
  const { post, ofName, read } = await start(t)
  await post('/validate', reviewOf(stamped()))
  await waitFor('delivery', () => (ofName('delivery_duration_seconds').length > 0 ? true : undefined), 5_000)
  t.match(ofName('delivery_duration_seconds'), [[String, { kind: 'GitCommit' }, Number]])
  t.match(ofName('events_total').at(-1), [String, { outcome: 'delivered' }, 1])
  for (const name of ['waiting_events', 'waiting_events_bytes', 'waiting_events_oldest_seconds'])
    t.match(read(name), [{ value: 0 }], name)
})

t.test('the end of the serving certificate is known', async (t) => {
  const { ofName } = await start(t)
  const [, , seconds] = ofName('certificate_expiry_timestamp_seconds')[0] ?? []
  t.ok((seconds ?? 0) * 1000 > Date.now())
})
