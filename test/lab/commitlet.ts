import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ControlPlane } from '../harness/control-plane.ts'
import { TOKEN } from '../harness/team.ts'
import { waitFor } from '../harness/wait.ts'
import { authorityOf, type Stage } from './stage.ts'

const ROOT = join(import.meta.dirname, '../..')
const DEADLINE_MS = 60_000
const run = promisify(execFile)

/** Walks docs/install.md: manifests, both scripts, knative.yaml, and the namespace of the examples. */
export async function installCommitlet(stage: Stage, say: (line: string) => void): Promise<void> {
  const { plane } = stage
  await plane.kubectl(['apply', '-k', join(ROOT, 'manifests')])
  const system = ['-n', 'commitlet-system']
  const ca = `--from-literal=ca.pem=${await authorityOf(stage)}`
  await plane.kubectl([...system, 'create', 'configmap', 'commitlet-trust', ca])
  const settings = '--from-literal=CA_FILE=/etc/commitlet/trust/ca.pem'
  await plane.kubectl([...system, 'create', 'configmap', 'commitlet-settings', settings])
  for (const script of ['certificate.sh', 'stamp-key.sh']) {
    const { stdout } = await run(join(ROOT, 'manifests/setup', script), [], {
      env: { ...process.env, KUBECONFIG: plane.kubeconfig },
    })
    say(stdout.trim())
  }
  await plane.kubectl([...system, 'rollout', 'status', 'deployment/commitlet-webhook', '--timeout=90s'])
  const file = join(ROOT, 'knative.yaml')
  // Knative's webhook may not be reached for a moment on a busy machine.
  for (const options of [['--dry-run=server', '--validate=strict'], []])
    await waitFor('answer of Knative', () => applied(plane, [...options, '-f', file]), DEADLINE_MS)
  const ready = ['wait', 'ksvc', 'commitlet-function', '--for=condition=Ready', '--timeout=90s']
  await plane.kubectl([...system, ...ready])
  await makeNamespace(stage)
}

/** Undefined: a webhook was not reached. */
async function applied(plane: ControlPlane, args: readonly string[]): Promise<true | undefined> {
  const { code, stderr } = await plane.kubectl(['apply', ...args], { allowFailure: true })
  if (code === 0) return true
  if (stderr.includes('failed calling webhook')) return undefined
  throw new Error(stderr)
}

async function makeNamespace({ plane }: Stage): Promise<void> {
  await plane.kubectl(['create', 'namespace', 'shop'])
  await plane.kubectl(['-n', 'shop', 'apply', '-f', join(ROOT, 'examples/0-rights.yaml')])
  await plane.kubectl([
    ...['-n', 'shop', 'create', 'rolebinding', 'developers-view'],
    ...['--clusterrole=view', '--group=developers'],
  ])
  const secret = await readFile(join(ROOT, 'examples/1-secret.yaml'), 'utf8')
  const input = secret.replaceAll('replace-with-your-token', TOKEN)
  await plane.kubectl(['-n', 'shop', 'apply', '--server-side', '-f', '-'], { input })
}
