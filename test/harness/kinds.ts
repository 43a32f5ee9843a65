import type { ControlPlane } from './control-plane.ts'
import { waitFor } from './wait.ts'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const DEADLINE = 30_000

/** The members of a CustomResourceDefinition of one version that are read here. */
export interface Definition {
  readonly metadata: { readonly name: string }
  readonly spec: {
    readonly group: string
    readonly names: { readonly plural: string }
    readonly versions: readonly { readonly name: string }[]
  }
}

/** Creates the kind, unless it exists, and waits until it is served and listed. */
export async function serveKind({ api }: Pick<ControlPlane, 'api'>, definition: Definition): Promise<void> {
  const { status, body } = await api.ask('POST', DEFINITIONS, definition)
  if (status !== 201 && status !== 409) throw new Error(JSON.stringify(body))
  const { group, names, versions } = definition.spec
  await waitFor(
    `kind that is served: ${definition.metadata.name}`,
    async () => {
      const listed = await api.ask('GET', `/apis/${group}/${versions[0]?.name ?? ''}`)
      return listed.status === 200 && JSON.stringify(listed.body).includes(`"name":"${names.plural}"`)
        ? true
        : undefined
    },
    DEADLINE,
  )
}
