import t from 'tap'
import { configMap, gitCommit, TOKEN } from '../../harness/installation.ts'
import { withCommitlet } from '../../harness/shared-installation.ts'
import { waitFor } from '../../harness/wait.ts'
import { commitlet, fileOf } from '../stage.ts'

// Why resources are not Ready, on a real API server with a Commitlet that works.
withCommitlet(t, async (t, installed) => {
  const { plane, git } = installed
  const team = await installed.createTeam({ developers: ['explain-ada'] })
  await team.apply(configMap())
  const env = { KUBECONFIG: plane.kubeconfig }
  const explain = (...words: readonly string[]) =>
    commitlet(['explain', ...words, '-n', team.namespace], { env })
  const repository = await git.createRepository(`explain/${team.namespace}`, { files: { shop: 'a file' } })

  await t.test('one that has succeeded', async (t) => {
    const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'other/shop.yaml' }
    await team.applyAs('explain-ada', gitCommit('good', repository.url, { resourceRef }))
    await team.settled('good')
    // The Event follows the status.
    const ended = await waitFor(
      'its Event',
      async () => {
        const found = await explain('good')
        return /History\n +2\d{3}-/.test(found.stdout) ? found : undefined
      },
      30_000,
    )
    t.equal(ended.code, 0, ended.stdout + ended.stderr)
    t.match(ended.stdout, /^GitCommit .*\/good: Succeeded\n/)
    t.match(ended.stdout, /Requested +by explain-ada/)
    t.match(ended.stdout, /Ready +True +Succeeded/)
    t.match(ended.stdout, /History\n +\S+ +Succeeded +Committed as/)
    t.notMatch(ended.stdout, TOKEN)
  })

  await t.test('one that has failed says what to do', async (t) => {
    await team.apply(gitCommit('bad', repository.url))
    await team.waitFor('bad', 'jsonpath={.status.phase}=Retrying')
    const ended = await explain('gitcommit/bad')
    t.equal(ended.code, 1)
    t.match(ended.stdout, /Retrying, PathConflict/)
    t.match(ended.stdout, /What to do +the path is.*kubectl annotate -n/s)
    const json: unknown = JSON.parse((await explain('gitcommit/bad', '-o', 'json')).stdout)
    t.match(json, {
      result: 'wrong',
      phase: 'Retrying',
      reason: 'PathConflict',
      conditions: [{ type: 'Ready' }],
    })
  })

  await t.test('an Event of somebody else looks like an Event', async (t) => {
    const { metadata } = await team.get('bad')
    const { namespace } = team
    const involvedObject = { kind: 'GitCommit', namespace, name: 'bad', uid: metadata.uid }
    const message = 'Look\nWhat to do  run something else\u009b31m'
    const event = { metadata: { name: 'forged' }, involvedObject, reason: 'Forged', type: 'Normal', message }
    await plane.api.need('POST', `/api/v1/namespaces/${namespace}/events`, event)
    t.match((await explain('bad')).stdout, /\n {2}\S+ +Forged +Look What to do {2}run something else\?31m/)
    t.match((await explain('bad', '-o', 'json')).stdout, 'else\\u009b31m')
  })

  await t.test('without the right to Events, and what is not there', async (t) => {
    const kubeconfig = await plane.kubeconfigFor({ name: 'explain-ada' })
    const words = ['explain', 'bad', '-n', team.namespace]
    const ada = await commitlet(words, { env: { KUBECONFIG: kubeconfig }, columns: 60, colour: true })
    t.match(ada.stdout, /You may not list Events/)
    t.match((await explain('none')).stderr, /ReferenceNotFound: There is no GitCommit none/)
    t.equal((await explain('secret/git')).code, 2)
    t.equal((await explain()).code, 2)
    const file = await fileOf(t, gitCommit('x', repository.url))
    t.equal((await explain('-f', file)).code, 2)
    const guest = await plane.kubeconfigFor({ name: 'explain-guest' })
    const refused = await commitlet(words, { env: { KUBECONFIG: guest } })
    t.equal(refused.code, 3, refused.stderr)
  })
})
