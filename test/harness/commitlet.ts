import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { ControlPlane } from './control-plane.ts'
import { waitFor } from './wait.ts'

/** The name that the webhook's serving certificate has to hold. */
export const WEBHOOK_HOST = 'commitlet-webhook.commitlet-system.svc'

const MANIFESTS = join(import.meta.dirname, '../../manifests')
const DEADLINE = 60_000

/** Applies the CRDs as users do and waits until both kinds are served. */
export async function installResources(plane: ControlPlane): Promise<void> {
  const folder = join(MANIFESTS, 'crds')
  const files = (await readdir(folder)).filter((file) => file.endsWith('.yaml'))
  await plane.kubectl(['apply', ...files.flatMap((file) => ['-f', join(folder, file)])])
  const served = await plane.kubectl(['wait', '--for=condition=Established', '--timeout=60s', 'crd', '--all'])
  if (!served.stdout.includes('commitlet.dev')) throw new Error(`No CRD of commitlet.dev in ${folder}.`)
}

/** Where the webhook listens on this machine, and who signed its certificate for WEBHOOK_HOST. */
export interface WebhookPlace {
  readonly webhookPort: number
  readonly authority: { readonly certPEM: string }
}

/**
 * Applies the CRDs and manifests/webhook-configuration.yaml, of which only the port and caBundle change: the
 * Service that they name stands for localhost. Waits until the API server asks the webhook, running or not.
 */
export async function installCommitlet(plane: ControlPlane, place: WebhookPlace): Promise<void> {
  await installResources(plane)
  await plane.apply(SYSTEM)
  const text = await readFile(join(MANIFESTS, 'webhook-configuration.yaml'), 'utf8')
  await plane.apply(pointedAt(text, place))
  await waitFor('call of the webhook by the API server', () => asksWebhook(plane), DEADLINE)
}

const SYSTEM = `
apiVersion: v1
kind: Namespace
metadata: { name: commitlet-system }
---
apiVersion: v1
kind: Service
metadata: { name: commitlet-webhook, namespace: commitlet-system }
spec: { type: ExternalName, externalName: localhost }
`

// The mutating configuration comes last: once it is in effect the validating one is, too.
function pointedAt(text: string, { webhookPort, authority }: WebhookPlace): string {
  const caBundle = Buffer.from(authority.certPEM).toString('base64')
  const documents = parseAllDocuments(text)
  if (!Array.isArray(documents)) throw new Error('manifests/webhook-configuration.yaml is empty.')
  documents.sort((one, other) => String(other.get('kind')).localeCompare(String(one.get('kind'))))
  for (const document of documents) {
    document.setIn(['webhooks', 0, 'clientConfig', 'caBundle'], caBundle)
    document.setIn(['webhooks', 0, 'clientConfig', 'service', 'port'], webhookPort)
  }
  return documents.map(String).join('---\n')
}

const PROBE = JSON.stringify({
  apiVersion: 'commitlet.dev/v1',
  kind: 'GitCommit',
  metadata: { name: 'probe', namespace: 'commitlet-system' },
  spec: {
    repository: 'https://git.example.com/acme/probe',
    message: 'Never stored',
    credentials: { secretName: 'probe', tokenKey: 'token' },
    resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'probe', path: 'probe.yaml' },
  },
})

/** A dry run comes back stamped, or with an error that the webhook, or its absence, made. */
async function asksWebhook(plane: ControlPlane): Promise<true | undefined> {
  const args = ['create', '--dry-run=server', '-o', 'json', '-f', '-']
  const { stdout, stderr } = await plane.kubectl(args, { input: PROBE, allowFailure: true })
  return stdout.includes('commitlet.dev/requester') || stderr.includes('webhook') ? true : undefined
}
