import { findBinaries } from '../../test/harness/control-plane-binaries.ts'
import { until } from '../../test/harness/stop-signal.ts'
import type { Running } from './cluster.ts'
import type { Stage } from '../run.ts'
import { NAMESPACE } from '../site.ts'
import { followLines, ROW, rowPrinter } from './watch.ts'

const KINDS = ['gitcommits', 'pullrequests'] as const

/** Prints how to continue in another terminal, then a line for each change of a status until `stop` fires. */
export async function follow(running: Running, stage: Stage): Promise<void> {
  await watchStatuses(running, stage)
  const { print } = stage
  print.title('The demo stays up until Ctrl-C. In another terminal:')
  print.line(`export KUBECONFIG=${running.plane.kubeconfig}`)
  const folder = running.examples
  print.line(`kubectl apply -n ${NAMESPACE} -f ${folder}    # change a GitCommit in a file there first`)
  const annotation = 'commitlet.dev/requested-at="$(date -u +%FT%TZ)"'
  print.line('# A changed ConfigMap or Deployment is committed when you request its GitCommit again:')
  print.line(`kubectl annotate -n ${NAMESPACE} gitcommit shop-settings ${annotation} --overwrite`)
  print.line(`git -C ${running.site.repository.path} log --stat --all`)
  print.line(
    'No controllers run here: pods do not start, roles are not aggregated, a deleted namespace stays.',
  )
  print.title('Changes (resource, phase, reason, commit):')
  await until(stage.stop)
  print.line('\nStopping everything.')
}

async function watchStatuses({ plane }: Running, { print, leftovers }: Stage): Promise<void> {
  const binaries = await findBinaries({ env: process.env, say: () => undefined })
  if ('missing' in binaries) throw new Error(binaries.missing)
  const everywhere = ['--all-namespaces', '-o']
  const all = `jsonpath={range .items[*]}${ROW}{end}`
  const { stdout } = await plane.kubectl(['get', KINDS.join(), ...everywhere, all])
  const take = rowPrinter(print, stdout.split('\n'))
  const options = ['--watch-only', `--kubeconfig=${plane.kubeconfig}`]
  for (const kind of KINDS) {
    const args = ['get', kind, ...everywhere, `jsonpath=${ROW}`, ...options]
    const stop = followLines(binaries.kubectl, args, take)
    await leftovers.hold(Promise.resolve(stop), stop)
  }
}
