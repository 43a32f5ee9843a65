import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { elements, member } from '../../functions/domain/json-value.ts'
import { accountConfigs, extendReaderBy } from '../../test/harness/accounts.ts'
import { callWebhook, installObjects, READER_WORKLOADS, WEBHOOK_HOST } from '../../test/harness/commitlet.ts'
import type { ControlPlane } from '../../test/harness/control-plane.ts'
import { startControlPlane } from '../../test/harness/control-plane.ts'
import type { Program } from '../../test/harness/programs.ts'
import { startFunction, startWebhook } from '../../test/harness/programs.ts'
import { readExamples } from '../examples.ts'
import type { Leftovers } from '../leftovers.ts'
import { makeLaps, type Printer } from '../print.ts'
import type { Stage } from '../run.ts'
import type { Site } from '../site.ts'
import { NAMESPACE, openSite, readLog } from '../site.ts'
import { complaintOf, summaryOf } from '../status.ts'

/** What is running once the examples have been applied. */
export interface Running {
  readonly plane: ControlPlane
  readonly site: Site
  /** Folder with the examples, which contain the Git server's address and token. */
  readonly examples: string
}

/** Both programs run from their sources, so they start slowly on a busy machine. */
const READY_MS = 60_000
/** Each of both programs drains first; on a machine with other work that takes seconds. */
const STOP_MS = 15_000
const WAIT = ['gitcommits', '--all', '--for=condition=Ready', '--timeout=20s']

/**
 * The demo on a real kube-apiserver: kubectl applies manifests/ and the examples. Both programs are child processes with
 * only the rights of their service accounts. Returns one sentence if there is no API server or a GitCommit did not
 * succeed.
 */
export async function runOnCluster({ print, leftovers, stop }: Stage): Promise<Running | string> {
  print.title('Commitlet: from kubectl apply to a commit, on a real API server')
  const lap = makeLaps()
  const plane = await leftovers.hold(startControlPlane({ own: true, signal: stop }), async (opened) => {
    if (!('missing' in opened)) await opened.stop()
  })
  if ('missing' in plane) return plane.missing
  print.step(`kube-apiserver and etcd: ${plane.url}`, lap())
  const site = await openSite(leftovers)
  print.step(`a Git server with token authentication: ${site.repository.url}`, lap())
  await installObjects(plane)
  await extendReaderBy(plane, READER_WORKLOADS, 'deployments.apps')
  print.step('manifests/: the CRDs, and a service account with the least rights for each program', lap())
  const webhook = await startParts({ plane, site, leftovers })
  print.step(`the function and the webhook, with tokens of these accounts: ${webhook.url}`, lap())
  await callWebhook(plane, { webhookPort: webhook.port, authority: site.authority })
  print.step('manifests/: the webhook configurations are active', lap())
  const running = { plane, site, examples: await writeExamples(site) }
  return (await applyExamples(running, print)) ?? running
}

interface Installation {
  readonly plane: ControlPlane
  readonly site: Site
  readonly leftovers: Leftovers
}

async function startParts({ plane, site, leftovers }: Installation): Promise<Program> {
  const stop = (program: Program): Promise<unknown> => program.stop(STOP_MS)
  const { certPEM, keyPEM } = await site.authority.issue({ names: [WEBHOOK_HOST, 'localhost'] })
  const [TLS_CERT_FILE, TLS_KEY_FILE] = [join(site.folder, 'tls.crt'), join(site.folder, 'tls.key')]
  await writeFile(TLS_CERT_FILE, certPEM)
  await writeFile(TLS_KEY_FILE, keyPEM, { mode: 0o600 })
  const accounts = await accountConfigs(plane)
  const STAMP_KEY_FILE = site.stampKeyFile
  const functionEnv = { KUBECONFIG: accounts.function, CA_FILE: site.caFile, STAMP_KEY_FILE }
  const functionProgram = await leftovers.hold(startFunction({ env: functionEnv }), stop)
  const tls = { TLS_CERT_FILE, TLS_KEY_FILE }
  const env = { KUBECONFIG: accounts.webhook, ...tls, STAMP_KEY_FILE, K_SINK: functionProgram.url }
  const webhook = await leftovers.hold(startWebhook({ env }), stop)
  await Promise.all([functionProgram.ready(READY_MS), webhook.ready(READY_MS)])
  return webhook
}

/** kubectl applies them in the order of their names: Secrets before the GitCommits that need them. */
async function writeExamples(site: Site): Promise<string> {
  const folder = join(site.folder, 'examples')
  await mkdir(folder)
  for (const { file, text } of await readExamples(site.host, site.token))
    await writeFile(join(folder, file), text, { mode: 0o600 })
  return folder
}

async function applyExamples(
  { plane, site, examples }: Running,
  print: Printer,
): Promise<string | undefined> {
  await plane.kubectl(['create', 'namespace', NAMESPACE])
  const show = async (verb: string, ...args: readonly string[]): Promise<number> => {
    const words = [verb, '-n', NAMESPACE, ...args]
    print.command(['kubectl', ...words].join(' '))
    const { code, stdout, stderr } = await plane.kubectl(words, { allowFailure: true })
    print.line(`${stderr}${stdout}`.trimEnd())
    return code
  }
  const lap = makeLaps()
  if ((await show('apply', '-f', examples)) !== 0)
    return 'kubectl could not apply the examples; its message is above.'
  await show('wait', ...WAIT)
  print.step('from the first apply to the last commit, including two calls of kubectl', lap())
  await show('get', 'gitcommits', '-o', 'wide')
  print.command(`git -C ${site.repository.path} log --stat --all`)
  print.line(await readLog(site, print.colour))
  const { stdout } = await plane.kubectl(['get', '-n', NAMESPACE, 'gitcommits', '-o', 'json'])
  return complaintOf(elements(member(JSON.parse(stdout), 'items')).map(summaryOf))
}
