import t from 'tap'
import { conditionsOf, readyOf } from '../harness/conditions.ts'
import { github } from '../harness/hosts/github.ts'
import type { Team } from '../harness/installation.ts'
import { kstatus } from '../harness/kstatus.ts'
import { withCommitlet } from '../harness/shared-installation.ts'
import type { HostedRepository } from './pull-request-stage.ts'
import { HEAD, hostRepository, requestAgain, settledPull } from './pull-request-stage.ts'

const DETAILS = { labels: ['settings'], reviewers: ['dev', 'stranger'], assignees: ['ops'] }

withCommitlet(t, async (t, commitlet) => {
  /** A team whose PullRequest `shop` is open. */
  async function openedTeam(
    spec: Readonly<Record<string, unknown>> = {},
  ): Promise<{ readonly team: Team; readonly hosted: HostedRepository }> {
    const team = await commitlet.createTeam()
    const hosted = await hostRepository(commitlet.git, { dialect: github, path: `${team.namespace}/shop` })
    await hosted.repository.commit(HEAD, { 'settings.yaml': 'colour: blue\n' })
    await team.apply(hosted.pullRequest('shop', spec))
    await settledPull(team, 'shop')
    return { team, hosted }
  }

  for (const state of ['merged', 'closed'] as const) {
    t.test(`one that was ${state} meanwhile reads so when it is requested again, and stays so`, async (t) => {
      const { team, hosted } = await openedTeam()
      Object.assign(hosted.model.pulls[0] ?? {}, { state })
      const stored = await requestAgain(team, 'shop')
      t.match(stored.status, { phase: 'Succeeded', pullRequest: { number: 1, state } })
      t.match(readyOf(stored), {
        status: 'True',
        reason: 'UpToDate',
        message: new RegExp(
          `^#1 was ${state} and is not opened again; create another PullRequest for further changes: https://`,
        ),
      })
      t.match((await team.kubectl(['get', 'gpr'])).stdout, new RegExp(`UpToDate +1 +${state}`))
      await team.apply(hosted.pullRequest('shop', { title: 'Another title' }))
      t.match((await settledPull(team, 'shop')).status, { pullRequest: { state }, observedGeneration: 2 })
      t.equal(hosted.writes().length, 1)
      t.equal(hosted.model.pulls.length, 1)
      t.strictSame(hosted.api.violations, [])
    })
  }

  t.test('a changed spec changes title and body, until a person has edited them', async (t) => {
    const { team, hosted } = await openedTeam()
    const [pull] = hosted.model.pulls
    await team.apply(hosted.pullRequest('shop', { title: 'Second', body: 'Two' }))
    t.match(readyOf(await settledPull(team, 'shop')), {
      reason: 'Succeeded',
      message: /^Updated title and/,
    })
    t.match(pull, { title: 'Second', body: /^Two\n\n\[commitlet:/ })
    t.equal(hosted.writes().length, 2)

    Object.assign(pull ?? {}, { title: 'By a person' })
    await team.apply(hosted.pullRequest('shop', { title: 'Third' }))
    const stored = await settledPull(team, 'shop')
    t.match(readyOf(stored), { status: 'True', reason: 'UpToDate', message: /someone has edited/ })
    t.match(stored.status, { observedGeneration: 3, pullRequest: { state: 'open' } })
    t.match(pull, { title: 'By a person', body: /^Two\n/ })
    t.equal(hosted.writes().length, 2)
    t.strictSame(hosted.api.violations, [])
  })

  t.test(
    'deleted and applied again it is another resource, which leaves the open one as it is',
    async (t) => {
      const { team, hosted } = await openedTeam()
      const before = await team.get('shop', 'pullrequest')
      await team.kubectl(['delete', 'pullrequest', 'shop'])
      t.match(hosted.model.pulls, [{ state: 'open' }], 'the deletion is no matter of the host')
      await team.apply(hosted.pullRequest('shop', { ...DETAILS, title: 'Again' }))
      const stored = await settledPull(team, 'shop')
      t.not(stored.metadata.uid, before.metadata.uid)
      t.match(stored.status, { phase: 'Succeeded', pullRequest: { number: 1, state: 'open' } })
      t.match(readyOf(stored), { reason: 'UpToDate', message: /someone else/ })
      t.match(conditionsOf(stored), [{}, { type: 'DetailsApplied', status: 'False', reason: 'NotOurs' }])
      t.equal(kstatus(stored), 'Current')
      t.match(hosted.model.pulls, [{ title: 'Settings of the shop', labels: [] }])
      t.equal(hosted.writes().length, 1)
    },
  )

  t.test('a reviewer that the host refuses is reported, and the pull request is still Ready', async (t) => {
    const { team, hosted } = await openedTeam(DETAILS)
    const applied = async (status: 'true' | 'false'): Promise<unknown> =>
      team.kubectl(['wait', 'pullrequest', 'shop', `--for=condition=DetailsApplied=${status}`])
    await applied('false')
    const stored = await team.get('shop', 'pullrequest')
    t.match(conditionsOf(stored), [
      {
        type: 'Ready',
        status: 'True',
        reason: 'Succeeded',
        message: /see the condition DetailsApplied\)$/,
      },
      { type: 'DetailsApplied', status: 'False', reason: 'NotApplied', message: /stranger/ },
    ])
    t.equal(kstatus(stored), 'Current')
    const { stdout } = await team.kubectl(['describe', 'gpr', 'shop'])
    t.match(stdout, /Status:\s+False\n\s+Type:\s+DetailsApplied/)
    t.match(hosted.model.pulls, [{ labels: ['settings'], assignees: ['ops'] }], 'the others are there')

    hosted.model.people.add('stranger')
    await requestAgain(team, 'shop')
    await applied('true')
    t.match(hosted.model.pulls, [{ reviewers: ['dev', 'stranger'] }])
    t.strictSame(hosted.api.violations, [])
  })

  t.test('labels that the token may not set are reported, and not retried', async (t) => {
    const team = await commitlet.createTeam()
    const hosted = await hostRepository(commitlet.git, { dialect: github, path: `${team.namespace}/shop` })
    await hosted.repository.commit(HEAD, { 'settings.yaml': 'colour: blue\n' })
    const refusal = { kind: 'answer', answer: github.answers.missingScope } as const
    hosted.api.fail(refusal, (_, path) => path.endsWith('/labels'))
    await team.apply(hosted.pullRequest('shop', { labels: ['settings'] }))
    const stored = await settledPull(team, 'shop')
    t.match(stored.status, { phase: 'Succeeded', attempts: 1 })
    t.match(conditionsOf(stored), [
      { type: 'Ready', status: 'True' },
      { type: 'DetailsApplied', status: 'False', message: /PermissionDenied/ },
    ])
    t.equal(kstatus(stored), 'Current')
  })
})
