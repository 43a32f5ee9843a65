import { execFileSync } from 'node:child_process'
import { writeSync } from 'node:fs'
import { join } from 'node:path'
import { TOKEN } from '../harness/team.ts'
import { HOSTS } from './node/node.ts'
import { EXAMPLE, type Stage } from './stage.ts'

const ROOT = join(import.meta.dirname, '../..')
/** The argument of inside.ts in place of a slack. */
export const KEEP = 'keep'
/** Where main.ts reads that the lab is open: only it knows by which number it can be entered. */
export const OPEN_FD = 3

/** Leaves the cluster, with Knative and without Commitlet, to whoever enters it, until the lab is stopped. */
export function openForVisitors({ plane, git }: Stage, folder: string): Promise<never> {
  execFileSync('mount', ['--bind', join(folder, HOSTS), '/etc/hosts'])
  const words = ['env', `--chdir=${ROOT}`, `KUBECONFIG=${plane.kubeconfig}`, 'bash']
  writeSync(OPEN_FD, JSON.stringify(words))
  process.stdout.write(`
There, kubectl reaches an empty cluster with Knative Serving. The node starts the programs of this clone for each image
of Commitlet, so that there is nothing to build or to push. Knative asks registries for digests, but not the one that the
manifests name, registry.example.com: keep that name.
The Git server has an empty repository, https://${EXAMPLE.host}/${EXAMPLE.repository}.git, for the token ${TOKEN}.
Its certificate is by an authority of its own: ${git.caFile}
Ctrl-C ends all of it.
`)
  return new Promise(() => undefined)
}
