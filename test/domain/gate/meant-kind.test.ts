import t from 'tap'
import { meantKind } from '../../../functions/domain/gate/meant-kind.ts'

const MEANT: readonly (readonly [apiVersion: string, kind: string, meant: string | undefined])[] = [
  ['v1', 'configmap', 'ConfigMap of v1'],
  ['v1', 'configmaps', 'ConfigMap of v1'],
  ['v1', 'cm', 'ConfigMap of v1'],
  ['apps/v1', 'ConfigMap', 'ConfigMap of v1'],
  ['v1', 'Deployment', 'Deployment of apps/v1'],
  ['extensions/v1beta1', 'Deployment', 'Deployment of apps/v1'],
  ['apps/v1beta2', 'deploy', 'Deployment of apps/v1'],
  ['v1', 'ingresses', 'Ingress of networking.k8s.io/v1'],
  ['networking.k8s.io/v1', 'networkpolicies', 'NetworkPolicy of networking.k8s.io/v1'],
  ['v1', 'endpoints', 'Endpoints of v1'],
  ['v1', 'ConfigMap', undefined],
  ['v1', 'Widget', undefined],
  ['v1', 'constructor', undefined],
  ['v1', 'secrets', undefined],
  ['serving.knative.dev/v1', 'service', undefined],
  ['example.com/v1', 'Deployment', undefined],
]

t.test('a kind of Kubernetes is recognised', async (t) => {
  for (const [apiVersion, kind, meant] of MEANT)
    t.equal(meantKind(apiVersion, kind), meant, `${kind} of ${apiVersion}`)
})
