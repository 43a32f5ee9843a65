import t from 'tap'
import { ACCOUNTS, SYSTEM } from '../harness/accounts.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit } from '../harness/installation.ts'
import { installPods } from '../harness/pods.ts'
import { sample } from '../harness/sample.ts'
import { waitFor } from '../harness/wait.ts'
import { holdSeats, untilOwnSeats } from './held-seats.ts'
import { OUTAGES, type OutageStage } from './outages-stage.ts'

const MINUTE = 60_000
/** Once nothing fails any more, everything has succeeded within this time. */
const HOME_MS = 60_000
/** Ten times what a commit may take. A call without a seat is answered with 429 after 15 s, and each commit makes some ten. */
const SEATED_MS = 50_000
const BEFORE = ['before-1', 'before-2', 'before-3'] as const
const DURING = ['during-1', 'during-2'] as const
/** As a real API server has it; the other control planes of the tests leave it out. */
const FAIRNESS = [
  '--enable-priority-and-fairness=true',
  '--max-requests-inflight=400',
  '--max-mutating-requests-inflight=200',
]

withControlPlane(
  t,
  async (t, plane) => {
    const pods = await installPods(t, plane, { SWEEP_INTERVAL: '3' })
    if (pods === undefined) return
    const { commitlet, mounted } = pods
    const { git } = commitlet
    const stage: OutageStage = { t, plane, commitlet, running: commitlet.function, mounted }

    t.test(
      'an account of a tenant that holds all seats of service accounts keeps no commit waiting',
      async (t) => {
        const team = await commitlet.createTeam()
        const { url } = await git.createRepository(`${team.namespace}/config`)
        await untilOwnSeats(plane)
        await holdSeats(t, plane, team.namespace)
        const began = performance.now()
        await team.apply(configMap(), gitCommit('shop', url))
        t.match((await team.settled('shop')).status, { phase: 'Succeeded' })
        const other = `/apis/apps.example.com/v1/namespaces/${team.namespace}/widgets/shop`
        const account = { 'impersonate-user': `system:serviceaccount:${SYSTEM}:${ACCOUNTS.function}` }
        t.equal((await plane.api.ask('GET', other, undefined, account)).status, 403, 'of another group')
        const took = performance.now() - began
        t.ok(took < SEATED_MS, `it landed after ${took.toFixed(0)} ms`)
      },
    )

    for (const { title, env = {}, when, isReported = false, begin } of sample(OUTAGES, () => 'outage'))
      t.test(`${title}: what was in flight, and what came meanwhile, succeeds exactly once`, async (t) => {
        if (Object.keys(env).length > 0) {
          await stage.running.kill()
          stage.running = await commitlet.startFunction(env)
        }
        const team = await commitlet.createTeam()
        const repository = await git.createRepository(`${team.namespace}/config`)
        const { promise: until, resolve } = Promise.withResolvers<undefined>()
        const resume = (): void => resolve(undefined)
        t.teardown(resume)
        const target = { repository: repository.name, exchange: 'receive-pack', times: 1 } as const
        git.faults.add({ kind: 'hold', when, until }, target)
        const commit = (name: string): object =>
          gitCommit(name, repository.url, {
            message: name,
            branch: 'main',
            resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: `${name}.yaml` },
          })
        await team.apply(configMap(), ...BEFORE.map(commit))
        const isPushed = (): true | undefined =>
          git.requests.some(
            (seen) => seen.repository === repository.name && seen.exchange === 'receive-pack',
          ) || undefined
        await waitFor('push', isPushed, MINUTE)
        const end = await begin(stage, resume)
        // The webhook may not be able to ask the API server.
        const applied = await Promise.allSettled(DURING.map((name) => team.apply(commit(name))))
        if (isReported) await team.waitFor(DURING[0], 'jsonpath={.status.phase}=Retrying')
        await end()
        const endedAt = performance.now()
        for (const [i, { status }] of applied.entries())
          if (status === 'rejected') {
            const again = () =>
              team.apply(commit(DURING[i] ?? '')).then(
                () => true,
                () => undefined,
              )
            await waitFor('admission', again, MINUTE)
          }
        const names = [...BEFORE, ...DURING]
        for (const name of names) t.match((await team.settled(name)).status, { phase: 'Succeeded' }, name)
        const took = performance.now() - endedAt
        t.ok(took < HOME_MS, `all succeeded within ${(took / 1000).toFixed(1)} s`)
        t.comment(`all succeeded ${(took / 1000).toFixed(1)} s after the end of the outage`)
        t.strictSame((await repository.log('main')).toSorted(), [...names, 'Begin'].toSorted())
        if (Object.keys(env).length === 0) return
        await stage.running.kill()
        stage.running = await commitlet.startFunction()
      })
  },
  { own: true, flags: FAIRNESS },
)
