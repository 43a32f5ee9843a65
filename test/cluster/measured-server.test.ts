import t from 'tap'
import type { ApiServer } from '../../functions/cluster/api-server.ts'
import { measureServer, resourceOf } from '../../functions/cluster/measured-server.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { NO_METER } from '../../functions/domain/telemetry/meter.ts'
import { recordingMeter } from '../harness/recording-meter.ts'

const OURS = '/apis/commitlet.dev/v1/namespaces/team/gitcommits'

const PATHS: readonly (readonly [string, string])[] = [
  [OURS + '/shop', 'gitcommits'],
  [`${OURS}/shop/status?fieldManager=commitlet`, 'gitcommits/status'],
  ['/apis/commitlet.dev/v1/gitcommits?limit=50', 'gitcommits'],
  ['/apis/commitlet.dev/v1/namespaces/team/pullrequests/shop', 'pullrequests'],
  ['/api/v1/namespaces/team/secrets/git', 'secrets'],
  ['/apis/authorization.k8s.io/v1/subjectaccessreviews', 'subjectaccessreviews'],
  ['/apis/events.k8s.io/v1/namespaces/team/events', 'events'],
  ['/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?limit=100', 'endpointslices'],
  ['/apis/coordination.k8s.io/v1/namespaces/system/leases/sweeps', 'leases'],
  ['/api/v1', 'discovery'],
  ['/apis/apps/v1', 'discovery'],
  ['/api/v1/namespaces/team/configmaps/shop', 'other'],
  ['/apis/example.com/v1/namespaces/team/widgets/gitcommits-of-mine', 'other'],
]

for (const [path, resource] of PATHS)
  t.test(`${path} counts as ${resource}`, async (t) => t.equal(resourceOf({ path }), resource))

t.test('a call is measured with its status, its time and the sizes of both bodies', async (t) => {
  const { meter, recorded } = recordingMeter()
  let now = 0
  const server: ApiServer = async () => {
    now += 250
    return { status: 201, text: '{"a":1}' }
  }
  const measured = measureServer(server, meter, () => now)
  t.match(await measured({ method: 'POST', path: OURS, body: { b: 1 } }), { status: 201 })
  const labels = { method: 'POST', resource: 'gitcommits', code: '201' }
  t.strictSame(recorded, [
    ['kubernetes_request_duration_seconds', labels, 0.25],
    ['kubernetes_bytes_total', { direction: 'received' }, 7],
    ['kubernetes_bytes_total', { direction: 'sent' }, 7],
  ])
})

t.test('a call without an answer counts as none, and its error is passed on', async (t) => {
  const { meter, recorded } = recordingMeter()
  const failure = new Failure('NetworkError', 'Gone.')
  const measured = measureServer(
    () => Promise.reject(failure),
    meter,
    () => 0,
  )
  await t.rejects(measured({ method: 'GET', path: OURS }), failure)
  t.match(recorded, [
    ['kubernetes_request_duration_seconds', { code: 'none' }, 0],
    ['kubernetes_bytes_total', { direction: 'sent' }, 0],
  ])
})

t.test('of a watch the bytes are counted as they come, and no time', async (t) => {
  const { meter, recorded } = recordingMeter()
  const taken: string[] = []
  const server: ApiServer = async ({ lines }) => {
    lines?.take('12345')
    t.strictSame(recorded, [['kubernetes_bytes_total', { direction: 'received' }, 5]])
    return { status: 200, text: '' }
  }
  const measured = measureServer(server, meter, () => 0)
  const { signal } = new AbortController()
  const lines = { take: (line: string) => void taken.push(line), forMs: 1_000, signal }
  t.match(await measured({ method: 'GET', path: OURS, lines }), { status: 200 })
  t.same(taken, ['12345'])
  t.notOk(recorded.some(([name]) => name === 'kubernetes_request_duration_seconds'))
})

t.test('without metrics the server is called directly', async (t) => {
  const server: ApiServer = async () => ({ status: 200, text: '' })
  t.equal(
    measureServer(server, NO_METER, () => 0),
    server,
  )
})
