import { API_VERSION } from '../functions/domain/resource/api-names.ts'
import type { StoredObject } from '../test/harness/memory-cluster.ts'
import { memoryCluster } from '../test/harness/memory-cluster.ts'
import { waitFor } from '../test/harness/wait.ts'
import type { AdmissionOptions } from './admission.ts'
import { create } from './admission.ts'
import { readExamples } from './examples.ts'
import { startFunction, startWebhook } from './parts.ts'
import { makeLaps, type Printer } from './print.ts'
import type { Stage } from './run.ts'
import { NAMESPACE, openSite, readLog } from './site.ts'
import type { ResourceSummary } from './status.ts'
import { complaintOf, summaryOf, isSettled, printSummaries } from './status.ts'

/** The user who applies the examples: the name that the API server would send. */
const USERNAME = 'developer@example.com'
const STATUS_DEADLINE_MS = 20_000

/**
 * The demo without a cluster: both programs run in this process, with a cluster in memory that holds the objects of
 * examples/. Returns one sentence if a GitCommit was not committed.
 */
export async function runInMemory({ print, leftovers }: Stage): Promise<string | undefined> {
  print.title('Commitlet: from kubectl apply to a commit, without a cluster')
  const lap = makeLaps()
  const site = await openSite(leftovers)
  print.step(`a Git server with token authentication: ${site.repository.url}`, lap())
  const cluster = memoryCluster()
  const context = { cluster, site, leftovers }
  const sink = await startFunction(context)
  print.step(`the function, which commits: ${sink}`, lap())
  const webhook = await startWebhook(sink, context)
  print.step(`the webhook, which admits resources and then notifies the function: ${webhook}`, lap())

  print.title(`${USERNAME} applies the files of examples/ in the namespace ${NAMESPACE}`)
  const examples = await readExamples(site.host, site.token)
  const objects = examples.flatMap((example) => example.objects).map(inNamespace)
  const options = { cluster, webhook, caPEM: site.authority.certPEM, username: USERNAME }
  const admitted: Promise<ResourceSummary>[] = []
  for (const object of objects) {
    const denial = await apply(object, options, print)
    if (denial !== undefined) return denial
    if (object.apiVersion === API_VERSION) admitted.push(follow(object, options, print))
  }
  const summaries = await Promise.all(admitted)

  print.title('What kubectl get gitcommits -o wide would show')
  printSummaries(summaries, print)
  print.command('git log --stat --all')
  print.line(await readLog(site, print.colour))
  print.line('\nNext: npm run demo -- --cluster does the same on a real API server, with kubectl apply.')
  return complaintOf(summaries)
}

function inNamespace(object: StoredObject): StoredObject {
  return { ...object, metadata: { namespace: NAMESPACE, ...object.metadata } }
}

/** Applies one object; a resource of Commitlet is sent to the webhook first. Returns a sentence if it is denied. */
async function apply(
  object: StoredObject,
  options: AdmissionOptions,
  print: Printer,
): Promise<string | undefined> {
  const lap = makeLaps()
  const title = titleOf(object)
  if (object.apiVersion !== API_VERSION) {
    options.cluster.apply(object)
    print.step(`${title}: created`, lap())
    return undefined
  }
  const { denial, warnings, mutateMs, validateMs } = await create(object, options)
  for (const warning of warnings) print.line(`Warning: ${warning}`)
  const times = `/mutate ${mutateMs.toFixed()} ms, /validate ${validateMs.toFixed()} ms`
  print.step(`${title}: ${denial === undefined ? 'allowed' : 'denied'} by the webhook (${times})`, lap())
  return denial === undefined ? undefined : `The webhook denied ${title}: ${denial}`
}

/** Waits until the status is settled, and returns it, settled or not, after the deadline at the latest. */
async function follow(
  object: StoredObject,
  { cluster }: AdmissionOptions,
  print: Printer,
): Promise<ResourceSummary> {
  const lap = makeLaps()
  const read = (): ResourceSummary => summaryOf(cluster.get(object.kind, NAMESPACE, object.metadata.name))
  await waitFor('settled status', () => isSettled(read()) || undefined, STATUS_DEADLINE_MS).catch(() => false)
  const summary = read()
  const end = summary.commit === '' ? summary.reason : `${summary.commit} on ${summary.branch}`
  print.step(`${titleOf(object)}: ${summary.phase ?? 'no status'}, ${end}`, lap())
  return summary
}

function titleOf({ kind, metadata }: StoredObject): string {
  return `${kind.toLowerCase()}/${metadata.name}`
}
