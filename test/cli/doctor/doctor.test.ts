import t from 'tap'
import { withCommitlet } from '../../harness/shared-installation.ts'
import { commitlet, stepsIn } from '../stage.ts'

// The doctor on a real API server that has manifests/, but no pods and no Knative.
withCommitlet(t, async (t, { plane }) => {
  await t.test('what is there is good, and what is not there is named', async (t) => {
    const ended = await commitlet(['doctor', '-o', 'json'], { env: { KUBECONFIG: plane.kubeconfig } })
    t.equal(ended.code, 1, ended.stderr)
    const steps = stepsIn(ended)
    for (const name of [
      'Kubernetes',
      'GitCommit',
      'PullRequest',
      'rights of function',
      'rights of webhook',
      'webhook',
      'sink',
    ])
      t.equal(steps[name]?.state, 'good', `${name}: ${steps[name]?.text ?? ''}`)
    t.match(steps['function'], { state: 'wrong', text: /not installed/ })
    t.match(steps['certificate'], { state: 'wrong' })
  })

  await t.test('a user without rights learns what stays unseen', async (t) => {
    const kubeconfig = await plane.kubeconfigFor({ name: 'doctor-guest' })
    const ended = await commitlet(['doctor'], { env: { KUBECONFIG: kubeconfig } })
    t.equal(ended.code, 3, ended.stdout + ended.stderr)
    t.match(ended.stdout, /– pods +You may not read the pods/)
    t.match(ended.stdout, /Seen as doctor-guest/)
  })

  await t.test('another namespace, and words that it does not take', async (t) => {
    const env = { KUBECONFIG: plane.kubeconfig }
    const elsewhere = await commitlet(['doctor', '--system-namespace', 'none', '-o', 'json'], { env })
    t.match(stepsIn(elsewhere)['webhook'], { state: 'wrong', text: /--system-namespace/ })
    t.equal((await commitlet(['doctor', 'all'], { env })).code, 2)
  })
})
