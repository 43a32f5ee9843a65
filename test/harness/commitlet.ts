import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments, type Document } from 'yaml'
import { SYSTEM, untilAllowed } from './accounts.ts'
import { applierBy } from './apply.ts'
import { fillAggregatedRoles } from './aggregated-roles.ts'
import { FILE, type ControlPlane, type Ran } from './control-plane.ts'
import { waitFor } from './wait.ts'

/** The name that the webhook's serving certificate needs. */
export const WEBHOOK_HOST = `commitlet-webhook.${SYSTEM}.svc`

/** A manifest that users apply by hand: the function may `get` services, workloads and networking, too. */
export const READER_WORKLOADS = join(import.meta.dirname, '../../manifests/optional/reader-workloads.yaml')

const MANIFESTS = join(import.meta.dirname, '../../manifests')
const DEADLINE = 60_000

/** Applies only the CRDs and waits until both kinds are served; a shared plane has them. */
export async function installResources(plane: ControlPlane): Promise<void> {
  if (plane.file !== undefined) return
  const folder = join(MANIFESTS, 'crds')
  const files = (await readdir(folder)).filter((file) => file.endsWith('.yaml'))
  await plane.kubectl(['apply', ...files.flatMap((file) => ['-f', join(folder, file)])])
  const args = ['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all']
  // It fails at once where a definition has no conditions yet.
  const look = async (): Promise<Ran | undefined> => {
    const ran = await plane.kubectl(args, { allowFailure: true })
    return ran.code === 0 ? ran : undefined
  }
  const served = await waitFor('kinds that are served', look, DEADLINE)
  if (!served.stdout.includes('commitlet.dev')) throw new Error(`No CRD of commitlet.dev in ${folder}.`)
}

/** Where the webhook listens on this machine, and who signed its certificate for WEBHOOK_HOST. */
export interface WebhookPlace {
  readonly webhookPort: number
  readonly authority: { readonly certPEM: string }
}

/** Installs what `kubectl apply -k manifests` does: `installObjects`, then `callWebhook`. */
export async function installCommitlet(plane: ControlPlane, place: WebhookPlace): Promise<void> {
  await installObjects(plane)
  await callWebhook(plane, place)
}

/**
 * Applies all of manifests/ but the webhook configurations: kinds, accounts, rights, and objects that no controller
 * acts on here. Two things differ from a cluster: the webhook's Service stands for localhost, and aggregated
 * ClusterRoles are filled. Waits until both accounts have their rights. A shared plane has all of it.
 */
export async function installObjects(plane: ControlPlane): Promise<void> {
  if (plane.file !== undefined) return
  await installResources(plane)
  const documents = (await built(plane)).filter((document) => !isWebhookConfiguration(document))
  const service = documents.find((document) => document.get('kind') === 'Service')
  if (service === undefined) throw new Error('There is no Service in manifests/.')
  service.set('spec', { type: 'ExternalName', externalName: 'localhost' })
  await plane.apply(textOf(documents))
  await fillAggregatedRoles(plane)
  await untilAllowed(plane, { account: 'function', verb: 'get', resource: 'configmaps' })
  await untilAllowed(plane, { account: 'webhook', verb: 'list', resource: 'gitcommits.commitlet.dev' })
}

/**
 * Applies the webhook configurations with only the port and caBundle changed; on a shared plane they have a name of
 * their own, and apply only to the namespaces of this test file. Waits until the API server calls the webhook, running
 * or not.
 */
export async function callWebhook(plane: ControlPlane, place: WebhookPlace): Promise<void> {
  const caBundle = Buffer.from(place.authority.certPEM).toString('base64')
  const documents = plane.file === undefined ? await built(plane) : await written()
  const configurations = documents.filter(isWebhookConfiguration)
  for (const document of configurations) {
    document.setIn(['webhooks', 0, 'clientConfig', 'caBundle'], caBundle)
    document.setIn(['webhooks', 0, 'clientConfig', 'service', 'port'], place.webhookPort)
    if (plane.file !== undefined) confine(document, plane.file)
  }
  // The mutating configuration comes last: once it is in effect the validating one is, too.
  configurations.sort((one, other) => String(other.get('kind')).localeCompare(String(one.get('kind'))))
  const applier = applierBy(plane.api)
  for (const document of configurations) {
    const { status, body } = await applier.apply(document.toJS() as object, '')
    if (status >= 300) throw new Error(JSON.stringify(body))
  }
  const namespace = plane.file === undefined ? SYSTEM : await plane.createNamespace('probe')
  await waitFor('call of the webhook by the API server', () => asksWebhook(plane, namespace), DEADLINE)
}

/** The name of both webhook configurations. */
export function configurationName({ file }: Pick<ControlPlane, 'file'>): string {
  return file === undefined ? 'commitlet' : `commitlet-${file}`
}

function confine(document: Document, file: string): void {
  document.setIn(['metadata', 'name'], configurationName({ file }))
  document.setIn(['metadata', 'labels', FILE], file)
  document.setIn(['webhooks', 0, 'namespaceSelector'], { matchLabels: { [FILE]: file } })
}

/** The documents of the kustomization, built as `kubectl apply -k` builds them. */
async function built(plane: ControlPlane): Promise<Document[]> {
  const { stdout } = await plane.kubectl(['kustomize', MANIFESTS])
  const documents = parseAllDocuments(stdout)
  if (!Array.isArray(documents)) throw new Error('manifests/kustomization.yaml builds nothing.')
  return documents
}

/** The webhook configurations from their file, for a plane that has the rest; kustomize only adds labels. */
async function written(): Promise<Document[]> {
  return [...parseAllDocuments(await readFile(join(MANIFESTS, 'webhook-configuration.yaml'), 'utf8'))]
}

function isWebhookConfiguration(document: Document): boolean {
  return String(document.get('kind')).endsWith('WebhookConfiguration')
}

function textOf(documents: readonly Document[]): string {
  return documents.map(String).join('---\n')
}

const PROBE = {
  apiVersion: 'commitlet.dev/v1',
  kind: 'GitCommit',
  metadata: { name: 'probe' },
  spec: {
    repository: 'https://git.example.com/acme/probe',
    message: 'Never stored',
    credentials: { secretName: 'probe', tokenKey: 'token' },
    resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'probe', path: 'probe.yaml' },
  },
}

/** Whether a dry run is stamped, or fails because of the webhook or its absence. */
async function asksWebhook(plane: ControlPlane, namespace: string): Promise<true | undefined> {
  const path = `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits?dryRun=All`
  const { status, body } = await plane.api.ask('POST', path, PROBE)
  const said = JSON.stringify(body)
  return said.includes(status === 201 ? 'commitlet.dev/requester' : 'webhook') ? true : undefined
}
