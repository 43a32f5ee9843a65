import t from 'tap'
import { appliedEvent } from '../../functions/domain/event/applied-event.ts'
import { binaryHeaders } from '../../webhook/delivery/delivery.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { gitCommit, install, TOKEN } from '../harness/installation.ts'
import type { Stored, Team } from '../harness/installation.ts'
import { isLong, sized } from '../harness/sample.ts'
import { waitFor } from '../harness/wait.ts'

const MINUTE = 60_000
/** An object is created so long after the resource that names it. */
const LATE_MS = sized(5_000, MINUTE)
/** Looks are at most 10 s apart. */
const LANDED_MS = 20_000
const SECRET = { apiVersion: 'v1', kind: 'Secret' }

function configMap(name: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { colour: 'blue' } }
}

function secret(name: string, token: string): object {
  return { ...SECRET, metadata: { name }, stringData: { token } }
}

function secondsSince(from: number): string {
  return `${((performance.now() - from) / 1000).toFixed(1)} s`
}

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane, { webhookEnv: { SWEEP_INTERVAL: '3' } })
  let running = commitlet.function

  async function stage(): Promise<{ readonly team: Team; readonly url: string }> {
    const team = await commitlet.createTeam({ secrets: ['git', 'later'] })
    const { url } = await commitlet.git.createRepository(team.namespace)
    return { team, url }
  }

  /** A GitCommit of the ConfigMap of its name, at a path of its own. */
  function commit(name: string, url: string, spec = {}): object {
    const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name, path: `shop/${name}.yaml` }
    return gitCommit(name, url, { branch: 'main', resourceRef, ...spec })
  }

  async function retrying(team: Team, name: string): Promise<Stored> {
    await team.waitFor(name, 'jsonpath={.status.phase}=Retrying', '60s')
    return team.get(name)
  }

  /** Waits for the time to pass, and for nothing else: nobody may write meanwhile. */
  async function pass(milliseconds: number): Promise<void> {
    const from = performance.now()
    const isOver = (): true | undefined => performance.now() - from > milliseconds || undefined
    await waitFor('end of the wait', isOver, milliseconds + MINUTE)
  }

  t.test(
    'objects that come later are found without a trigger, and nothing is written until then',
    async (t) => {
      const { team, url } = await stage()
      const keys = { credentials: { secretName: 'later', tokenKey: 'token' } }
      await team.apply(configMap('by-secret'), commit('by-object', url), commit('by-secret', url, keys))
      const before = [await retrying(team, 'by-object'), await retrying(team, 'by-secret')]
      t.match(before, [
        { status: { attempts: 1, waitingFor: [{ field: 'spec.resourceRef' }] } },
        { status: { attempts: 1, waitingFor: [{ field: 'spec.credentials' }] } },
      ])
      await pass(LATE_MS)
      t.same([await team.get('by-object'), await team.get('by-secret')], before)
      const from = performance.now()
      await team.apply(configMap('by-object'), secret('later', TOKEN))
      for (const name of ['by-object', 'by-secret'])
        t.match((await team.settled(name)).status, { phase: 'Succeeded', attempts: 2 }, name)
      t.ok(performance.now() - from < LANDED_MS, `both landed within ${secondsSince(from)}`)
    },
  )

  t.test('so they are where the function that has looked for them is gone', async (t) => {
    const { team, url } = await stage()
    await team.apply(commit('late', url))
    await retrying(team, 'late')
    await running.kill()
    running = await commitlet.startFunction()
    const from = performance.now()
    await team.apply(configMap('late'))
    t.match((await team.settled('late')).status, { phase: 'Succeeded', attempts: 2 })
    t.ok(performance.now() - from < LANDED_MS, `it landed within ${secondsSince(from)}`)
  })

  for (const named of isLong() ? [true, false] : [true])
    t.test(`a Secret that was fixed is noticed ${named ? 'with an event' : 'without one'}`, async (t) => {
      const { team, url } = await stage()
      const keys = { credentials: { secretName: 'later', tokenKey: 'token' } }
      await team.apply(secret('later', 'wrong'), configMap('fixed'), commit('fixed', url, keys))
      const refused = await retrying(team, 'fixed')
      t.match(refused.status, {
        attempts: 1,
        waitingFor: [{ field: 'spec.credentials', version: /^[0-9a-f]{16}$/ }],
        conditions: [{ reason: 'AuthenticationFailed' }, { type: 'Stalled' }],
      })
      await send(refused)
      t.equal((await team.get('fixed')).metadata.resourceVersion, refused.metadata.resourceVersion)
      const from = performance.now()
      await team.apply(secret('later', TOKEN))
      if (named) await send(refused)
      await team.waitFor('fixed', 'jsonpath={.status.phase}=Succeeded', named ? '30s' : '290s')
      t.match((await team.get('fixed')).status, { attempts: 2, waitingFor: undefined }, secondsSince(from))
    })

  /** Sends an event that names the resource to the function. */
  async function send(resource: Stored): Promise<void> {
    const event = appliedEvent(resource, 'an-event')
    const answer = await fetch(running.url, {
      method: 'POST',
      headers: binaryHeaders(event, {}),
      body: JSON.stringify(event.data),
    })
    if (answer.status !== 202) throw new Error(`The function answered ${answer.status}.`)
  }
})
