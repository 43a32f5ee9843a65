import type { Test } from 'tap'
import { parse, parseAllDocuments } from 'yaml'
import { blocksOf } from '../docs/blocks.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import type { Manifest } from './variants.ts'

const [QUOTAS = '', FOR_ALL = ''] = await blocksOf('docs/install.md', 'yaml', '## Quotas for pods of tenants')
const OURS = {
  topologyKey: 'kubernetes.io/os',
  labelSelector: { matchLabels: { 'app.kubernetes.io/part-of': 'commitlet' } },
}

/** The spec of a pod that is not where a pod of this term is. */
function apartFrom(term: object): object {
  const podAntiAffinity = { requiredDuringSchedulingIgnoredDuringExecution: [{ ...OURS, ...term }] }
  return { affinity: { podAntiAffinity } }
}

/** Pods that keep ours from a node, by their title. */
const HARMFUL = {
  'no node for any of ours': apartFrom({ namespaceSelector: {} }),
  'no node for any in our namespace': apartFrom({ namespaces: ['commitlet-system'] }),
  'above ours': { priorityClassName: 'system-node-critical' },
  'as high as ours': { priorityClassName: 'system-cluster-critical' },
}
const HARMLESS = { plain: {}, 'apart from those of the same namespace': apartFrom({}) }

/** The quotas of docs/install.md for the namespaces of tenants. */
export function tryTenantQuotas(t: Test, plane: ControlPlane): void {
  t.test('with the quotas of docs/install.md no pod of a tenant keeps ours from a node', async (t) => {
    const namespace = await plane.createNamespace()
    const create = async (spec: object): Promise<string> => {
      const metadata = { name: 'any', namespace }
      const containers = [{ name: 'any', image: 'registry.example.com/any' }]
      const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { ...spec, containers } }
      const options = { input: JSON.stringify(pod), allowFailure: true }
      return (await plane.kubectl(['create', '--dry-run=server', '-f', '-'], options)).stderr
    }
    for (const [title, spec] of Object.entries({ ...HARMFUL, ...HARMLESS }))
      t.equal(await create(spec), '', `without quotas: ${title}`)
    const made = await plane.kubectl(['-n', namespace, 'create', '-f', '-'], { input: QUOTAS })
    t.equal(made.stderr, '')
    // No controller manager runs here, which would write this status: a quota without it refuses nothing.
    const status = JSON.stringify({ status: { hard: { pods: '0' }, used: { pods: '0' } } })
    for (const { metadata } of quotas()) {
      const patch = ['patch', 'resourcequota', metadata.name, '--subresource=status', '--type=merge']
      await plane.kubectl(['-n', namespace, ...patch, '-p', status])
    }
    for (const [title, spec] of Object.entries(HARMFUL))
      t.match(await create(spec), 'is forbidden: exceeded quota: ', title)
    for (const [title, spec] of Object.entries(HARMLESS)) t.equal(await create(spec), '', title)
  })

  t.test('what the API servers are told for all namespaces has the scopes of the quotas', async (t) => {
    const { limitedResources } = parse(FOR_ALL).plugins[0].configuration
    t.strictSame(
      limitedResources.map(({ matchScopes }: Manifest) => matchScopes),
      quotas().map(({ spec }) => spec.scopeSelector.matchExpressions),
    )
  })
}

function quotas(): readonly Manifest[] {
  return parseAllDocuments(QUOTAS).map((document): Manifest => document.toJS())
}
