import t from 'tap'
import type { ApiServer } from '../../../functions/cluster/api-server.ts'
import { connectCluster } from '../../../functions/cluster/connect.ts'
import { followChanges } from '../../../functions/cluster/sweep/changes.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { member } from '../../../functions/domain/json-value.ts'
import { envelopeOf } from '../../../functions/domain/resource/envelope.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import { waitFor } from '../../harness/wait.ts'
import { recordingLog } from '../../webhook/stage.ts'

/** As many as etcd stores of one object. */
const LABELS = `{${Array.from({ length: 125_000 }, (_, i) => `"${i.toString(36)}":""`).join(',')}}`
const COLUMNS = '[{"name":"Next attempt"},{"name":"Observed"},{"name":"Handled"}]'
const REF = { kind: 'GitCommit', namespace: 'shop', name: 'a' } as const

function metadataOf(name: string): string {
  return `{"name":"${name}","namespace":"shop","uid":"u","generation":2,"resourceVersion":"7","labels":${LABELS}}`
}

function tableOf(rows: number, next = ''): string {
  const all = Array.from({ length: rows }, (_, i) => `{"cells":["",1,""],"object":{"metadata":${metadataOf(`r${i}`)}}}`) // prettier-ignore
  return `{"kind":"Table","metadata":{"continue":"${next}","resourceVersion":"7"},"columnDefinitions":${COLUMNS},"rows":[${all.join()}]}`
}

const whole = `{"apiVersion":"commitlet.dev/v1","kind":"GitCommit","metadata":${metadataOf('a')},"spec":{"message":"Hello"}}`

t.test(
  'a page of resources with 125,000 labels each is small, and is read in less than 100 ms',
  async (t) => {
    const limits: number[] = []
    let longest = 0
    const server: ApiServer = ({ path, most = 32 * 1024 * 1024 }) => {
      const limit = Number(new URL(path, 'https://localhost').searchParams.get('limit'))
      limits.push(limit)
      const text = tableOf(limit, 'more')
      if (text.length > most) return Promise.reject(new Failure('NotSupported', 'The answer is too large.'))
      longest = Math.max(longest, text.length)
      return Promise.resolve({ status: 200, text: Buffer.from(text).toString() })
    }
    const cluster = connectCluster(server)
    const first = await cluster.listPage('GitCommit', {})
    t.ok(longest <= 4 * 1024 * 1024, `${longest} bytes`)
    t.match(first.rows[0], { ref: { name: 'r0', generation: 2 }, observedGeneration: 1 })
    t.ok(
      first.rows.every(({ weight }) => weight > 250),
      'the labels count to the weight',
    )
    const before = limits.length
    const start = cpuTime()
    await cluster.listPage('GitCommit', { next: 'more' })
    t.equal(limits.length - before, 1, 'the next page is no larger')
    const took = cpuTime() - start
    t.ok(took < allowedMs(100), `${took} ms`)
  },
)

t.test('pages grow again where the resources are small', async (t) => {
  const limits: number[] = []
  const cluster = connectCluster(({ path }) => {
    const limit = Number(new URL(path, 'https://localhost').searchParams.get('limit'))
    limits.push(limit)
    const isLarge = limits.length < 5 && limit > 3
    if (isLarge) return Promise.reject(new Failure('NotSupported', 'The answer is too large.'))
    return Promise.resolve({ status: 200, text: tableOf(0, 'more') })
  })
  for (let page = 0; page < 6; page += 1) await cluster.listPage('GitCommit', {})
  t.same(limits, [50, 25, 13, 7, 4, 8, 16, 32, 50, 50])
})

t.test('the labels of a resource that is read or written are not parsed', async (t) => {
  const cluster = connectCluster(() => Promise.resolve({ status: 200, text: whole }))
  const read = await cluster.readResource(REF)
  t.match(member(read, 'spec'), { message: 'Hello' })
  // Not shown: they are very many.
  const hasLabels = (value: unknown): boolean => member(member(value, 'metadata'), 'labels') !== undefined
  t.notOk(hasLabels(read))
  const written = await cluster.patchStatus(envelopeOf(read), { observedGeneration: 2, phase: 'Failed' })
  t.notOk(hasLabels(written))
  const start = cpuTime()
  for (let reads = 0; reads < 10; reads += 1) await cluster.readResource(REF)
  const took = cpuTime() - start
  t.ok(took < allowedMs(100), `${took} ms for ten`)
})

t.test('nor are those of an object that is looked at, or whose change is told', async (t) => {
  const served = { plural: 'gitcommits', namespaced: true } as const
  const text = `{"metadata":{"uid":"u","resourceVersion":"7","labels":${LABELS.slice(0, LABELS.lastIndexOf(',', 1_000_000))}}}}`
  const cluster = connectCluster(() => Promise.resolve({ status: 200, text }))
  const config = { apiVersion: 'v1', ...REF, kind: 'ConfigMap' }
  const start = cpuTime()
  for (let looks = 0; looks < 10; looks += 1) t.equal(await cluster.readVersion(config, served), 'u/7')
  const looked = cpuTime() - start
  t.ok(looked < allowedMs(100), `${looked} ms for ten looks`)

  const { log } = recordingLog()
  const end = new AbortController()
  t.teardown(() => end.abort())
  let watch: ((line: string) => void) | undefined
  const server: ApiServer = ({ lines, path }) => {
    if (lines === undefined) return Promise.resolve({ status: 200, text: tableOf(1) })
    if (path.includes('gitcommits')) watch = lines.take
    return new Promise(() => undefined)
  }
  let time = 0
  const changes = followChanges({ server, log, elapsed: () => time })
  const began = cpuTime()
  await changes.begin(end.signal)
  const take = await waitFor('the watch', () => watch, 10_000)
  for (let lines = 0; lines < 10; lines += 1) take(`{"type":"MODIFIED","object":${tableOf(1)}}`)
  const told = cpuTime() - began
  time += 10_000
  t.equal(changes.isFollowed(), true)
  t.match(changes.due(), [{ ref: { name: 'r0' } }])
  t.ok(told < allowedMs(100), `${told} ms for ten changes`)
})
