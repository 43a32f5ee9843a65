import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { folderWith, startDemo } from '../demo/run-demo.ts'
import { SHARED, withControlPlane } from '../harness/control-plane.ts'
import { sample } from '../harness/sample.ts'
import { waitFor } from '../harness/wait.ts'

const DEADLINE = 120_000
/** Idle it takes about a second. */
const ENDED = 20_000
const EXAMPLES = ['shop-settings', 'shop-deployment', 'shop-features']
const run = promisify(execFile)

t.test('without an API server the demo fails with one sentence', async (t) => {
  const PATH = folderWith(t, ['sh', 'git', 'nice', 'setpriv', 'timeout'])
  const nothing = { PATH, [SHARED]: undefined, KUBEBUILDER_ASSETS: undefined }
  const demo = await startDemo(t, ['--cluster'], { env: { ...nothing, TEST_ASSET_KUBECTL: undefined } })
  const { code, stderr } = await demo.ended
  t.match(stderr, /^There is no kubectl [^\n]+\.\n$/)
  t.equal(code, 1)
  t.same(await demo.leftovers(), [])
})

withControlPlane(t, async (t) => {
  async function appliesAll(t: Test): Promise<void> {
    const demo = await startDemo(t, ['--cluster'])
    const { code, stdout, stderr } = await demo.ended
    t.equal(stderr, '')
    t.equal(code, 0)
    t.match(stdout, 'the function and the webhook, with tokens of these accounts: https://')
    for (const name of EXAMPLES) {
      t.match(stdout, `gitcommit.commitlet.dev/${name} created`)
      t.match(stdout, `gitcommit.commitlet.dev/${name} condition met`)
      t.match(stdout, new RegExp(`^${name} +True +Succeeded +\\S+ +[0-9a-f]{12} `, 'm'))
      t.match(stdout, new RegExp(`^    Commitlet-Resource: demo/${name}$`, 'm'))
    }
    t.same(await demo.leftovers(), [])
  }

  async function follows(t: Test): Promise<void> {
    const demo = await startDemo(t, ['--cluster', '--keep'])
    const ready = waitFor(
      'heading above the changes',
      () => /^Changes /m.test(demo.stdout()) || undefined,
      DEADLINE,
    )
    await Promise.race([ready, demo.ended])
    const [, kubeconfig] = /^export KUBECONFIG=(.+)$/m.exec(demo.stdout()) ?? []
    const [, annotate = ''] = /^(kubectl annotate .+)$/m.exec(demo.stdout()) ?? []
    t.match(demo.stdout(), /^kubectl apply -n demo -f \S+\/examples /m)
    t.match(demo.stdout(), /^No controllers run here/m)
    await run('sh', ['-c', annotate], { env: { ...process.env, KUBECONFIG: kubeconfig } })
    const row = /^\d\d:\d\d:\d\d +GitCommit demo\/shop-settings +Succeeded +UpToDate +[0-9a-f]{12}$/m
    await waitFor('line of the new status', () => row.test(demo.stdout()) || undefined, DEADLINE)
    demo.stop('SIGINT')
    const { code, stdout, stderr } = await demo.ended
    t.match(stdout, /\nStopping everything\.\n$/)
    t.equal(stderr, '')
    t.equal(code, 0)
    t.same(await demo.leftovers(), [])
  }

  // Each starts a control plane of its own, and all of Commitlet on it.
  const whole = [
    ['the demo applies the examples by kubectl, and all become commits', appliesAll],
    ['with --keep it follows what is applied until Ctrl-C', follows],
  ] as const
  for (const [title, test] of sample(whole, () => 'the whole demo')) t.test(title, test)

  const signals = [
    ['SIGTERM', /^Changes /m],
    ['SIGHUP', /the least rights/],
  ] as const
  for (const [signal, moment] of sample(signals, () => 'signal to npm')) {
    t.test(`${signal} to npm ends the API server and all the rest: ${moment.source}`, async (t) => {
      const demo = await startDemo(t, ['--cluster', '--keep'], { npm: true })
      const reached = waitFor('that moment', () => moment.test(demo.stdout()) || undefined, DEADLINE)
      await Promise.race([reached, demo.ended])
      t.match((await demo.leftovers()).join('\n'), 'kube-apiserver')
      demo.stop(signal)
      await demo.nothingLeft(ENDED)
      // A demo that is not ready yet reports that it did not complete.
      t.match((await demo.ended).stderr, /^(?:The demo was stopped before its end; [^\n]*\n)?$/)
    })
  }
})
