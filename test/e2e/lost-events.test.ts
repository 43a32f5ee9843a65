import t from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Team } from '../harness/installation.ts'
import { startRelay } from '../harness/relay.ts'
import { waitFor } from '../harness/wait.ts'

const SWEEP_INTERVAL = 3
const SWEEP_FULL_INTERVAL = 6
const MINUTE = 60_000

withControlPlane(
  t,
  async (t, plane) => {
    const relay = await startRelay()
    t.teardown(() => relay.close())
    const commitlet = await install(t, plane, {
      webhookEnv: {
        K_SINK: relay.url,
        SWEEP_INTERVAL: String(SWEEP_INTERVAL),
        // Off in the first test: it finds new resources as well.
        SWEEP_FULL_INTERVAL: '0',
      },
    })
    relay.targets.push(commitlet.function.url)
    let current = commitlet.function
    let webhook = commitlet.webhook

    /** A team whose resource `shop` has succeeded once. */
    async function settledTeam() {
      const team = await commitlet.createTeam()
      const repository = await commitlet.git.createRepository(`${team.namespace}/config`)
      const again = (spec: Readonly<Record<string, unknown>>) => gitCommit('shop', repository.url, spec)
      await team.apply(configMap(), again({}))
      await team.waitFor('shop', 'condition=Ready', '60s')
      return { team, repository, again }
    }

    /** Loses every event while `change` is made, until one of this team was lost and `then` is done. */
    async function loseOne(team: Team, change: () => Promise<unknown>, then?: () => Promise<unknown>) {
      const before = relay.lost.length
      relay.losing = true
      await change()
      await waitFor(
        'lost event',
        () => (relay.lost.slice(before).includes(`${team.namespace}/shop`) ? true : undefined),
        MINUTE,
      )
      await then?.()
      relay.losing = false
    }

    /** Waits for the start of the attempt, in seconds from the call; the attempt itself may take its time. */
    async function secondsUntil(team: Team, condition: string): Promise<number> {
      const from = performance.now()
      await team.waitFor('shop', condition, '60s')
      return (performance.now() - from) / 1000
    }

    t.test('the event of a new resource is lost: the sweep finds it within two intervals', async (t) => {
      const team = await commitlet.createTeam()
      const repository = await commitlet.git.createRepository(`${team.namespace}/config`)
      await loseOne(team, () => team.apply(configMap(), gitCommit('shop', repository.url)))
      t.ok((await secondsUntil(team, 'jsonpath={.status.attempts}=1')) <= 2 * SWEEP_INTERVAL)
      await team.waitFor('shop', 'condition=Ready', '60s')
      t.strictSame(await repository.log('main'), ['Record the shop settings', 'Begin'])
    })

    t.test('the full sweep is switched on', async () => {
      await webhook.stop()
      webhook = await commitlet.startWebhook({ SWEEP_FULL_INTERVAL: String(SWEEP_FULL_INTERVAL) })
    })

    t.test('the event of a changed spec is lost: the full sweep finds it within two intervals', async (t) => {
      const { team, repository, again } = await settledTeam()
      await loseOne(team, () =>
        team.apply(again({ message: 'Second', resourceRef: reference('second.yaml') })),
      )
      t.ok((await secondsUntil(team, 'jsonpath={.status.observedGeneration}=2')) <= 2 * SWEEP_FULL_INTERVAL)
      await team.waitFor('shop', 'jsonpath={.status.phase}=Succeeded', '60s')
      t.strictSame(await repository.log('main'), ['Second', 'Record the shop settings', 'Begin'])
    })

    t.test('the event of a request is lost: the full sweep finds it within two intervals', async (t) => {
      const { team, repository } = await settledTeam()
      await team.apply(configMap({ colour: 'red' }))
      await loseOne(team, () => team.request('shop', 'later'))
      t.ok(
        (await secondsUntil(team, 'jsonpath={.status.lastHandledRequestedAt}=later')) <=
          2 * SWEEP_FULL_INTERVAL,
      )
      await team.waitFor('shop', 'jsonpath={.status.phase}=Succeeded', '60s')
      t.match(await repository.show('main:shop/settings.yaml'), 'colour: red')
    })

    t.test(
      'with the function down, what is applied, changed and requested succeeds once it is up',
      async (t) => {
        const [changed, requested] = [await settledTeam(), await settledTeam()]
        const fresh = await commitlet.createTeam()
        const repository = await commitlet.git.createRepository(`${fresh.namespace}/config`)
        await current.kill()
        await fresh.apply(configMap(), gitCommit('shop', repository.url))
        await changed.team.apply(changed.again({ message: 'Second', resourceRef: reference('second.yaml') }))
        await requested.team.apply(configMap({ colour: 'red' }))
        await requested.team.request('shop', 'later')
        t.match((await fresh.get('shop')).status, { phase: 'Pending', observedGeneration: -1 })
        current = await commitlet.startFunction()
        const waits = [
          [fresh, 'jsonpath={.status.attempts}=1', SWEEP_INTERVAL],
          [changed.team, 'jsonpath={.status.observedGeneration}=2', SWEEP_FULL_INTERVAL],
          [requested.team, 'jsonpath={.status.lastHandledRequestedAt}=later', SWEEP_FULL_INTERVAL],
        ] as const
        for (const [team, condition, interval] of waits)
          t.ok((await secondsUntil(team, condition)) <= 2 * interval)
        for (const [team] of waits) await team.waitFor('shop', 'jsonpath={.status.phase}=Succeeded', '60s')
        t.strictSame(await repository.log('main'), ['Record the shop settings', 'Begin'])
        t.strictSame(await changed.repository.log('main'), ['Second', 'Record the shop settings', 'Begin'])
        t.match(await requested.repository.show('main:shop/settings.yaml'), 'colour: red')
      },
    )

    t.test('a webhook that restarts while the function is down finds what changed', async (t) => {
      const { team, repository, again } = await settledTeam()
      await loseOne(
        team,
        () => team.apply(again({ message: 'Second', resourceRef: reference('second.yaml') })),
        () => Promise.all([webhook.kill(), current.kill()]),
      )
      // A day: only the sweep at the start happens.
      webhook = await commitlet.startWebhook({ SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '86400' })
      await webhook.waitForLine((line) => line.includes('"sweep":"full"') && line.includes('"events":1'))
      t.match((await team.get('shop')).status, { observedGeneration: 1 })
      await commitlet.startFunction()
      await team.waitFor('shop', 'jsonpath={.status.observedGeneration}=2', '60s')
      await team.waitFor('shop', 'jsonpath={.status.phase}=Succeeded', '60s')
      t.strictSame(await repository.log('main'), ['Second', 'Record the shop settings', 'Begin'])
    })
  },
  { own: true },
)

function reference(path: string) {
  return { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path }
}
