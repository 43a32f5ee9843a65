import t from 'tap'
import { openApiServer } from '../../functions/cluster/api-server.ts'
import { connectCluster } from '../../functions/cluster/connect.ts'
import { followServerClock } from '../../functions/cluster/server-clock.ts'
import { finding, plainConfig, standIn, writeConfig } from './stage.ts'

const START = Date.parse('2026-03-01T10:00:00Z')

/** A clock that follows a server, whose answers come at the given times with these headers. */
function stage() {
  const at = { elapsed: 5_000, date: undefined as string | undefined }
  const clock = followServerClock(
    () => Promise.resolve({ status: 200, text: '', date: at.date }),
    () => at.elapsed,
  )
  async function answer(elapsed: number, time: number): Promise<number> {
    at.elapsed = elapsed
    at.date = new Date(time).toUTCString()
    await clock.server({ method: 'GET', path: '/' })
    return clock.now().getTime()
  }
  return { at, clock, answer }
}

t.test('the time is that of the answers, and goes on between them', async (t) => {
  const { at, clock, answer } = stage()
  t.equal(await answer(5_000, START), START)
  at.elapsed = 12_345
  t.equal(clock.now().getTime(), START + 7_345)
})

t.test('whole seconds become more exact with each answer, and are never ahead', async (t) => {
  const { answer } = stage()
  for (let i = 0; i < 50; i += 1) {
    // Each answer comes at another fraction of a second: 137 ms have no common divisor with 1,000.
    const passed = i * 1_137
    const told = await answer(5_000 + passed, START + 400 + passed)
    t.ok(told <= START + 400 + passed)
    if (i > 30) t.ok(told > START + 400 + passed - 100)
  }
})

t.test('a clock that is set back or forward is followed', async (t) => {
  const { answer } = stage()
  await answer(0, START)
  t.equal(await answer(1_000, START - 600_000), START - 600_000)
  t.equal(await answer(2_000, START + 600_000), START + 600_000)
})

t.test('an answer that was on its way for long says nothing of the time before it', async (t) => {
  const { at, clock, answer } = stage()
  await answer(0, START)
  at.date = new Date(START + 1_000).toUTCString()
  const late = clock.server({ method: 'GET', path: '/' })
  at.elapsed = 15_000
  await late
  t.equal(clock.now().getTime(), START + 15_000)
  t.equal(await answer(20_000, START + 20_500), START + 20_000)
  t.equal(await answer(21_000, START + 19_000), START + 19_000, 'set back by more than it was on its way')
})

t.test(
  'an answer without a time changes nothing, and before the first it is the time of this machine',
  async (t) => {
    const { at, clock, answer } = stage()
    t.ok(Math.abs(clock.now().getTime() - Date.now()) < 60_000)
    await answer(0, START)
    for (const date of [undefined, 'soon']) {
      at.date = date
      await clock.server({ method: 'GET', path: '/' })
      t.equal(clock.now().getTime(), START)
    }
  },
)

t.test('the time is never that of an API behind the API server, whose answers it passes on', async (t) => {
  const { at, clock, answer } = stage()
  await answer(0, START)
  const foreign = [
    '/apis/things.example.com/v1',
    '/apis/things.example.com/v1/namespaces/team/things/it',
    '/apis/apps/v1/namespaces/team/deployments/it',
    '/apis/commitlet.dev.example.com/v1/namespaces/team/gitcommits/it',
  ]
  const own = [
    '/api/v1/namespaces/team/secrets/git',
    '/apis/commitlet.dev/v1alpha1/namespaces/team/gitcommits/it/status?fieldManager=commitlet',
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    '/apis/coordination.k8s.io/v1/namespaces/commitlet-system/leases/commitlet-sweeps',
    '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/commitlet',
  ]
  for (const path of foreign) {
    at.date = 'Fri, 01 Jan 2038 00:00:00 GMT'
    await clock.server({ method: 'GET', path })
    t.equal(clock.now().getTime(), START, path)
  }
  for (const [i, path] of own.entries()) {
    at.date = new Date(START + i * 60_000).toUTCString()
    await clock.server({ method: 'GET', path })
    t.equal(clock.now().getTime(), START + i * 60_000, path)
  }
})

t.test('whatever the clock of the pod, the cluster tells the time of its server', async (t) => {
  const ahead = Date.now() + 600_000
  const url = await standIn(t, (_request, response) => {
    response.setHeader('date', new Date(ahead).toUTCString())
    response.statusCode = 404
    response.end('{}')
  })
  const cluster = connectCluster(finding(await writeConfig(t, plainConfig(url)), openApiServer))
  t.equal(await cluster.readResource({ kind: 'GitCommit', namespace: 'team', name: 'shop' }), undefined)
  t.ok(Math.abs(cluster.now().getTime() - ahead) < 10_000)
})
