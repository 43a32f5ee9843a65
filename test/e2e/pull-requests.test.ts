import t from 'tap'
import { columns } from '../harness/columns.ts'
import { readyFor, readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { github } from '../harness/hosts/github.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Team } from '../harness/installation.ts'
import { kstatus } from '../harness/kstatus.ts'
import type { HostedRepository } from './pull-request-stage.ts'
import { BASE, HEAD, hostRepository, makeDue, settledPull, waitForPull } from './pull-request-stage.ts'

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane, { webhookEnv: { SWEEP_INTERVAL: '1' } })
  const { git } = commitlet

  async function hostedTeam(): Promise<{ readonly team: Team; readonly hosted: HostedRepository }> {
    const team = await commitlet.createTeam()
    const hosted = await hostRepository(git, { dialect: github, path: `${team.namespace}/shop` })
    return { team, hosted }
  }

  for (const order of ['the commit first', 'the pull request first'] as const) {
    t.test(`a commit to a new branch and its pull request in one file, ${order}`, async (t) => {
      const { team, hosted } = await hostedTeam()
      const { repository, model, api } = hosted
      const commit = gitCommit('shop', repository.url, { branch: HEAD })
      const pull = hosted.pullRequest('shop')
      const file = order === 'the commit first' ? [commit, pull] : [pull, commit]
      await team.apply(configMap(), ...file)
      await waitForPull(team, 'shop', 'condition=Ready')
      await waitForPull(team, 'shop', 'jsonpath={.status.pullRequest.state}=open')
      await team.waitFor('shop', 'condition=Ready')
      const url = `${git.url}/${team.namespace}/shop/pull/1`
      const stored = await team.get('shop', 'pullrequest')
      t.match(stored.status, {
        observedGeneration: 1,
        phase: 'Succeeded',
        credentialsUsed: 'Primary',
        pullRequest: { number: 1, url, state: 'open' },
      })
      t.equal(stored.status['nextAttemptTime'], undefined)
      t.equal(kstatus(stored), 'Current')
      const message = `Opened #1: ${url}`
      const shown = columns((await team.kubectl(['get', 'gpr'])).stdout)
      t.match(shown, { NAME: 'shop', READY: 'True', REASON: 'Succeeded', NUMBER: '1', STATE: 'open' })
      t.notOk(shown['URL'])
      t.match(columns((await team.kubectl(['get', 'gpr', '-o', 'wide'])).stdout), {
        NUMBER: '1',
        STATE: 'open',
        URL: url,
        MESSAGE: message,
        'NEXT ATTEMPT': '',
      })
      const { stdout: described } = await team.kubectl(['describe', 'gpr', 'shop'])
      t.match(described, /Pull Request:\n\s+Number:\s+1\n\s+State:\s+open\n\s+URL:\s+https:/)
      t.match(described, /Status:\s+True\n\s+Type:\s+Ready/)
      t.match(described, new RegExp(`Normal +Succeeded .*${message}`))
      t.match(model.pulls, [{ base: BASE, head: HEAD, title: 'Settings of the shop', draft: false }])
      t.ok(model.pulls[0]?.body.startsWith('Opened from the cluster.\n\n'), 'the marker stands below')
      t.match(model.pulls[0]?.body, stored.metadata.uid)
      t.strictSame(api.violations, [])

      const asked = api.seen.length
      await team.apply(configMap(), ...file)
      await team.apply(hosted.pullRequest('marker', { baseBranch: 'nowhere' }))
      await waitForPull(team, 'marker', 'jsonpath={.status.phase}=Retrying')
      t.match(readyOf(await team.get('marker', 'pullrequest')), {
        reason: 'HeadNotFound',
        message: /nowhere/,
      })
      t.same(await team.get('shop', 'pullrequest'), stored, 'applied again, nothing happens')
      const since = api.seen.slice(asked)
      t.ok(since.length > 0)
      for (const { path, body } of since) t.match(path + JSON.stringify(body), 'nowhere')
      await team.kubectl(['delete', 'pullrequest', 'marker'])
    })
  }

  t.test('the branch is created long after the pull request, and its first commit after that', async (t) => {
    const { team, hosted } = await hostedTeam()
    await team.apply(hosted.pullRequest('shop'))
    await waitForPull(team, 'shop', 'jsonpath={.status.phase}=Retrying')
    const early = await team.get('shop', 'pullrequest')
    t.match(readyOf(early), { status: 'False', reason: 'HeadNotFound', message: /settings/ })
    t.equal(kstatus(early), 'InProgress')
    const row = columns((await team.kubectl(['get', 'gpr', '-o', 'wide'])).stdout)
    t.match(row, { READY: 'False', REASON: 'HeadNotFound', 'NEXT ATTEMPT': /T.*Z$/ })
    t.match((await team.kubectl(['describe', 'gpr', 'shop'])).stdout, /Warning +HeadNotFound/)

    await hosted.repository.git('branch', HEAD, BASE)
    await makeDue(team, 'shop')
    await readyFor(team, 'shop', 'NothingToMerge', 'pullrequest')
    t.strictSame(hosted.model.pulls, [])

    await hosted.repository.commit(HEAD, { 'settings.yaml': 'colour: blue\n' })
    await makeDue(team, 'shop')
    await waitForPull(team, 'shop', 'condition=Ready')
    const { status } = await settledPull(team, 'shop')
    t.match(status, { phase: 'Succeeded', pullRequest: { number: 1, state: 'open' } })
    t.ok(Number(status['attempts']) >= 3, 'attempts are counted on')
    t.equal(hosted.model.pulls.length, 1)
    t.strictSame(hosted.api.violations, [])
  })
})
