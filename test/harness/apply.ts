import type { AdminAPI, Answered } from './admin-api.ts'
import { waitFor } from './wait.ts'

/** An object with its kind. */
interface Typed {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
}

interface Listed {
  readonly name: string
  readonly kind: string
  readonly namespaced: boolean
}

const DEADLINE = 10_000
const APPLY = { 'content-type': 'application/apply-patch+yaml' }

/** Applies objects in the server, as `kubectl apply --server-side --force-conflicts` does, without a process for each. */
export interface Applier {
  /** The answer, whatever its status; by default as the admin. An object without a namespace gets this one. */
  apply(object: object, namespace: string, user?: string): Promise<Answered>
}

/** Remembers where each kind is served. */
export function applierBy(api: AdminAPI): Applier {
  const places = new Map<string, Listed>()

  async function look({ apiVersion, kind }: Typed): Promise<Listed | undefined> {
    const { body } = await api.ask('GET', groupPath(apiVersion))
    const { resources = [] } = body as { readonly resources?: readonly Listed[] }
    return resources.find((listed) => listed.kind === kind && !listed.name.includes('/'))
  }

  async function placeOf(object: Typed): Promise<Listed> {
    const key = `${object.apiVersion} ${object.kind}`
    const place = places.get(key) ?? (await waitFor(`${key} that is served`, () => look(object), DEADLINE))
    places.set(key, place)
    return place
  }

  return {
    async apply(object, namespace, user) {
      const typed = object as Typed
      const { name, namespaced } = await placeOf(typed)
      const within = namespaced ? `/namespaces/${typed.metadata.namespace ?? namespace}` : ''
      const path = `${groupPath(typed.apiVersion)}${within}/${name}/${typed.metadata.name}`
      const headers = user === undefined ? APPLY : { ...APPLY, 'impersonate-user': user }
      return api.ask('PATCH', `${path}?fieldManager=test&force=true`, object, headers)
    },
  }
}

function groupPath(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
}
