import type { Test } from 'tap'
import type { ControlPlane } from './control-plane.ts'
import { hasDefinitions } from './knative-definitions.ts'

/** The kinds of cert-manager and of the Prometheus Operator that manifests name, as for Knative's. */
const MODULES = [
  {
    module: 'github.com/cert-manager/cert-manager@v1.19.1',
    sum: 'h1:Txh8L/nLWTDcb7ZnXuXbTe15BxQnLbLirXmbNk0fGgY=',
    files: ['certificates', 'issuers'].map((name) => `deploy/crds/cert-manager.io_${name}.yaml`),
  },
  {
    module: 'github.com/prometheus-operator/prometheus-operator@v0.83.0',
    sum: 'h1:qAKbm+45fqNGcn9sGTa1Ae2TM3KZuYA/uyoD2QKi9+o=',
    files: ['podmonitors', 'prometheusrules'].map(
      (name) => `example/prometheus-operator-crd/monitoring.coreos.com_${name}.yaml`,
    ),
  },
]

/** Serves the kinds that the manifests need of cert-manager and of the Prometheus Operator, as `hasKnative` does. */
export function hasOthers(t: Test, plane: ControlPlane): Promise<boolean> {
  return hasDefinitions(t, plane, { of: 'cert-manager and the Prometheus Operator', modules: MODULES })
}
