import { randomBytes } from 'node:crypto'
import t from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Fault } from '../harness/git-faults.ts'
import type { Exchange } from '../harness/git-exchange.ts'

/** Messages of others on the shared branch, which are of the last hour, and their characters. */
const MESSAGES = 40
const CHARACTERS = 60_000
/** Less than half of what they take in a pack, and far more than all else that two attempts read. */
const LITTLE = 500_000

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane, { webhookEnv: { SWEEP_INTERVAL: '3' } })
  const { git } = commitlet
  const down: Fault = { kind: 'status', status: 503 }

  /** A team, a repository with a long history, and how many bytes it has answered fetches with. */
  async function stage() {
    const team = await commitlet.createTeam()
    const repository = await git.createRepository(team.namespace)
    for (let count = 0; count < MESSAGES; count += 1) {
      const message = `Other ${count}\n\n${randomBytes(CHARACTERS / 2).toString('hex')}`
      await repository.commit('main', { [`others/${count}.txt`]: `${count}\n` }, message)
    }
    const fail = (exchange: Exchange): void =>
      void git.faults.add(down, { repository: repository.name, exchange, times: 1 })
    const fetched = (): number =>
      git.requests
        .filter((seen) => seen.repository === repository.name && seen.command === 'fetch')
        .reduce((sum, { sent }) => sum + sent, 0)
    return { team, repository, fail, fetched }
  }

  t.test('after an attempt that could not read the branch, nobody reads its history', async (t) => {
    const { team, repository, fail, fetched } = await stage()
    fail('upload-pack')
    await team.apply(configMap(), gitCommit('shop', repository.url, { branch: 'main' }))
    await team.waitFor('shop', 'jsonpath={.status.phase}=Retrying')
    const { nothingPushedTime, lastAttemptTime } = (await team.get('shop')).status
    t.equal(nothingPushedTime, lastAttemptTime)
    t.match((await team.settled('shop')).status, {
      phase: 'Succeeded',
      attempts: 2,
      nothingPushedTime: undefined,
    })
    t.ok(fetched() < LITTLE, `${fetched()} bytes were fetched`)
  })

  t.test('after a push without an answer its commit is searched for', async (t) => {
    const { team, repository, fail, fetched } = await stage()
    fail('receive-pack')
    await team.apply(configMap(), gitCommit('shop', repository.url, { branch: 'main' }))
    t.match((await team.settled('shop')).status, { phase: 'Succeeded', attempts: 2 })
    t.ok(fetched() > LITTLE, `${fetched()} bytes were fetched`)
    t.equal((await repository.log('main'))[0], 'Record the shop settings')
    t.equal((await repository.log('main')).length, MESSAGES + 2)
  })
})
