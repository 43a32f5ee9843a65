import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { Installed } from '../../../cli/doctor/installed.ts'
import type { ApiCall } from '../../../functions/cluster/api-server.ts'
import { makeAuthority } from '../../harness/certificates.ts'

const ROOT = join(import.meta.dirname, '../../..')
/** The certificates of the tests live for a day: seen from here they end in three weeks. */
export const NOW = new Date(Date.now() - 20 * 86_400_000)

/** What an API server answers: by path without the query, a status, or the object. */
export type Answers = Readonly<Record<string, number | object>>

/** The documents of a file of the repository. */
function documentsOf(file: string): readonly Readonly<Record<string, unknown>>[] {
  return parseAllDocuments(readFileSync(join(ROOT, file), 'utf8')).map((one) => Object(one.toJS()))
}

function kindOf(file: string, kind: string): object {
  return documentsOf(file).find((one) => one.kind === kind) ?? {}
}

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const NAMESPACE = '/api/v1/namespaces/commitlet-system'
export const PATHS = {
  mutating: '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/commitlet',
  validating: '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/commitlet',
  gitcommits: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gitcommits.commitlet.dev',
  pullrequests: '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/pullrequests.commitlet.dev',
  dryRun: '/apis/commitlet.dev/v1/namespaces/commitlet-system/gitcommits',
  reviews: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
  tls: `${NAMESPACE}/secrets/commitlet-webhook-tls`,
  key: `${NAMESPACE}/secrets/commitlet-stamp-key`,
  otherKey: `${NAMESPACE}/secrets/other`,
  pods: `${NAMESPACE}/pods`,
  webhook: '/apis/apps/v1/namespaces/commitlet-system/deployments/commitlet-webhook',
  knative: '/apis/serving.knative.dev/v1/namespaces/commitlet-system/services/commitlet-function',
  deployment: '/apis/apps/v1/namespaces/commitlet-system/deployments/commitlet-function',
  lease: '/apis/coordination.k8s.io/v1/namespaces/commitlet-system/leases/commitlet-sweeps',
  version: '/version',
} as const

const authority = await makeAuthority()
const { certPEM } = await authority.issue({ names: ['commitlet-webhook.commitlet-system.svc'] })
const expired = await authority.issue({ names: ['x'], expired: true })
export const EXPIRED = base64(expired.certPEM)

/** A webhook configuration with this authority. */
export function configuration(caBundle: string | undefined, failurePolicy = 'Fail'): object {
  return { webhooks: [{ failurePolicy, clientConfig: caBundle === undefined ? {} : { caBundle } }] }
}

function crd(file: string): object {
  return {
    ...kindOf(file, 'CustomResourceDefinition'),
    status: { conditions: [{ type: 'Established', status: 'True' }] },
  }
}

export function pod(name: string, image: string, ready = 'True'): object {
  return {
    metadata: { name },
    spec: { containers: [{ image }] },
    status: { conditions: [{ type: 'Ready', status: ready }] },
  }
}

/** The answers of a cluster with a whole installation, made of manifests/ and knative.yaml. */
export const WHOLE: Answers = {
  [PATHS.version]: { gitVersion: 'v1.36.3', minor: '36' },
  [PATHS.gitcommits]: crd('manifests/crds/gitcommits.yaml'),
  [PATHS.pullrequests]: crd('manifests/crds/pullrequests.yaml'),
  [PATHS.mutating]: configuration(base64(authority.certPEM)),
  [PATHS.validating]: configuration(base64(authority.certPEM)),
  [PATHS.tls]: { data: { 'tls.crt': base64(certPEM) } },
  [PATHS.dryRun]: { message: 'admission webhook "mutate.commitlet.dev" denied the request' },
  [PATHS.reviews]: { status: { allowed: true } },
  [PATHS.key]: { data: { key: 'c2VjcmV0' } },
  [PATHS.otherKey]: { data: { key: 'b3RoZXI=' } },
  [PATHS.webhook]: kindOf('manifests/webhook.yaml', 'Deployment'),
  [PATHS.knative]: kindOf('knative.yaml', 'Service'),
  [PATHS.pods]: { items: [pod('webhook-1', 'registry.example.com/commitlet:0.1.0')] },
  [PATHS.lease]: { spec: { holderIdentity: 'webhook-1', renewTime: NOW.toISOString() } },
}

/** An installation whose API server gives these answers instead of the usual ones. */
export function installed(answers: Answers = {}, now = NOW): Installed & { readonly calls: ApiCall[] } {
  const all = { ...WHOLE, ...answers }
  const calls: ApiCall[] = []
  return {
    calls,
    systemNamespace: 'commitlet-system',
    version: '0.1.0',
    now,
    async server(call) {
      calls.push(call)
      const answer = all[call.path.split('?')[0] ?? ''] ?? 404
      if (typeof answer === 'number') return { status: answer, text: '{}' }
      const isDenied = call.path.startsWith(PATHS.dryRun)
      return { status: isDenied ? 422 : 200, text: JSON.stringify(answer) }
    },
  }
}
