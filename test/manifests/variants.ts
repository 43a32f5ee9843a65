import { stringify } from 'yaml'
import type { Test } from 'tap'
import { SYSTEM } from '../harness/accounts.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { dryRun } from '../harness/knative-definitions.ts'
import type { readManifest } from './read.ts'

/** An object of an installation. */
export type Manifest = Awaited<ReturnType<typeof readManifest>>[number]

/** Kinds of cert-manager and of the Prometheus Operator. */
const FOREIGN = /^(cert-manager\.io|monitoring\.coreos\.com)\//
const KNATIVE = /^[a-z.]+\.knative\.dev\//

/** The objects, and which kinds of other projects the API server knows. */
interface Taken {
  readonly objects: readonly Manifest[]
  readonly hasKnative: boolean
  readonly hasOthers: boolean
}

/** The API server takes all objects that it knows, strictly and without a warning, and the pods of both parts. */
export async function takesAll(
  t: Test,
  plane: ControlPlane,
  { objects, hasKnative, hasOthers }: Taken,
): Promise<void> {
  const known = objects.filter(
    ({ apiVersion }) => (hasOthers || !FOREIGN.test(apiVersion)) && (hasKnative || !KNATIVE.test(apiVersion)),
  )
  const said = await dryRun(plane, known.map((one) => stringify(one)).join('---\n'))
  t.match(said, { code: 0, stderr: '' }, `${known.length} objects`)
  const pods = podsOf(objects)
  t.not(pods.length, 0, 'there are pods')
  for (const { name, spec } of pods) {
    const metadata = { name: `restricted-${name}`, namespace: SYSTEM }
    const pod = await dryRun(plane, stringify({ apiVersion: 'v1', kind: 'Pod', metadata, spec }))
    t.match(pod, { code: 0, stderr: '' }, `pod of ${name}`)
  }
}

/** The pods of both parts, as Deployments and Knative make them. */
export function podsOf(
  objects: readonly Manifest[],
): readonly { readonly name: string; readonly spec: Manifest }[] {
  return objects
    .filter(({ spec }) => spec?.template?.spec !== undefined)
    .map(({ apiVersion, metadata, spec }) => {
      const { name } = metadata
      return { name, spec: KNATIVE.test(apiVersion) ? filled(spec.template.spec) : spec.template.spec }
    })
}

/** What Knative fills in: a name, and the port of the probes. */
function filled({ serviceAccountName, enableServiceLinks, containers, volumes }: Manifest): Manifest {
  const [{ readinessProbe, livenessProbe, ...container }] = containers
  const probe = ({ httpGet, ...rest }: Manifest): Manifest => ({
    ...rest,
    httpGet: { ...httpGet, port: 8080 },
  })
  const probes = { readinessProbe: probe(readinessProbe), livenessProbe: probe(livenessProbe) }
  const spec = { serviceAccountName, enableServiceLinks, volumes }
  return { ...spec, containers: [{ ...container, name: 'user', ...probes }] }
}
