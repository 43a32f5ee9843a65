import t from 'tap'
import { conditionsOf, readyOf } from '../harness/conditions.ts'
import { configMap, gitCommit, type Stored, type Team } from '../harness/installation.ts'
import { kstatus } from '../harness/kstatus.ts'
import { withCommitlet } from '../harness/shared-installation.ts'
import { waitFor } from '../harness/wait.ts'

const STAMP = ['requested-by', 'requester', 'requester-signature'].map((key) => `commitlet.dev/${key}`)

withCommitlet(t, async (t, commitlet) => {
  const { plane } = commitlet
  const team = await commitlet.createTeam({ developers: ['developer'] })
  await team.apply(configMap())

  /** Suspends or resumes it as the administrator, and waits until its status tells. */
  async function suspend(name: string, suspend: boolean | null, kind = 'gitcommit'): Promise<Stored> {
    const { namespace } = team
    const path = `/apis/commitlet.dev/v1/namespaces/${namespace}/${kind}s/${name}`
    const merge = { 'content-type': 'application/merge-patch+json' }
    await plane.api.need('PATCH', path, { spec: { suspend } }, merge)
    return observed(team, name, kind)
  }

  t.test(
    'a settled resource is suspended and resumed without a second commit or another requester',
    async (t) => {
      const repository = await commitlet.git.createRepository(`${team.namespace}/settled`)
      t.equal((await team.applyAs('developer', gitCommit('settled', repository.url))).code, 0)
      const settled = await team.settled('settled')
      for (const [value, phase] of [
        [true, 'Suspended'],
        [false, 'Succeeded'],
        [true, 'Suspended'],
        [null, 'Succeeded'],
      ] as const) {
        const stored = await suspend('settled', value)
        t.match(stored.status, { phase, commit: Object(settled.status['commit']) })
        t.equal(kstatus(stored), 'Current')
        t.equal(readyOf(stored).status, 'True')
        for (const key of STAMP)
          t.equal(stored.metadata.annotations?.[key], settled.metadata.annotations?.[key], key)
      }
      t.equal(await repository.git('rev-list', '--count', 'main').then(Number), 2)
      await team.request('settled')
      await team.settled('settled')
      t.match(readyOf(await team.get('settled')), { reason: 'UpToDate' })
    },
  )

  t.test('created suspended, nothing is committed until it is resumed', async (t) => {
    const repository = await commitlet.git.createRepository(`${team.namespace}/later`)
    await team.apply(gitCommit('later', repository.url, { suspend: true }))
    const stored = await observed(team, 'later')
    t.match(stored.status, { phase: 'Suspended', lastHandledGeneration: -1 })
    t.equal(kstatus(stored), 'InProgress')
    t.match(conditionsOf(stored), [{ status: 'Unknown', reason: 'Suspended' }, { type: 'Reconciling' }])
    await team.apply(gitCommit('later', repository.url, { suspend: true, message: 'Another message' }))
    t.match((await observed(team, 'later')).status, { phase: 'Suspended', lastHandledGeneration: -1 })
    t.equal(await repository.git('rev-list', '--count', 'main').then(Number), 1)
    await suspend('later', null)
    await team.settled('later')
    const log = await repository.git('log', '-1', '--format=%B', 'main')
    t.match(log, /^Another message\n/)
    t.match(log, new RegExp(`Commitlet-Id: ${stored.metadata.uid}\\.2\n`), 'the generation of the request')
  })

  t.test('a failed pull request is suspended and resumed as it was', async (t) => {
    const spec = {
      baseBranch: 'main',
      headBranch: 'feature',
      title: 'New',
      repository: 'https://github.com/acme/shop.git',
    }
    await team.apply({
      apiVersion: 'commitlet.dev/v1',
      kind: 'PullRequest',
      metadata: { name: 'wait' },
      spec: { ...spec, suspend: true, credentials: { secretName: 'git', tokenKey: 'absent' } },
    })
    t.match((await observed(team, 'wait', 'pullrequest')).status, { phase: 'Suspended' })
    await suspend('wait', false, 'pullrequest')
    await team.waitFor('wait', 'jsonpath={.status.phase}=Retrying', '30s', 'pullrequest')
    const stored = await suspend('wait', true, 'pullrequest')
    t.match(stored.status, { phase: 'Suspended', attempts: 1, nextAttemptTime: String })
    t.equal(kstatus(stored), 'Failed', 'someone has to fix the Secret')
    t.match((await suspend('wait', null, 'pullrequest')).status, { phase: 'Retrying', attempts: 1 })
  })

  t.test('who may not commit may still suspend, and not forge the generation of the request', async (t) => {
    const repository = await commitlet.git.createRepository(`${team.namespace}/forged`)
    await team.apply(gitCommit('forged', repository.url))
    await team.settled('forged')
    await suspend('forged', true)
    const key = 'commitlet.dev/request-generation'
    await team.kubectl(['annotate', 'gitcommit', 'forged', `${key}=2`, '--overwrite'])
    t.equal((await team.get('forged')).metadata.annotations?.[key], '1')
    await team.kubectl(['annotate', 'gitcommit', 'forged', `${key}-`])
    t.equal((await team.get('forged')).metadata.annotations?.[key], '1')
    t.match((await suspend('forged', null)).status, { phase: 'Succeeded', attempts: 1 })
  })
})

/** The resource once its status is about its generation and no attempt is running. */
function observed(team: Team, name: string, kind = 'gitcommit'): Promise<Stored> {
  const look = async (): Promise<Stored | undefined> => {
    const stored = await team.get(name, kind)
    const isObserved = stored.status['observedGeneration'] === stored.metadata.generation
    return isObserved && stored.status['phase'] !== 'Progressing' ? stored : undefined
  }
  return waitFor(`observed ${name}`, look, 30_000)
}
