/** How the API server serves a kind, as its discovery says. */
export interface ServedKind {
  /** Name of the resource in paths and in RBAC, which the kind's name need not suggest. */
  readonly plural: string
  readonly namespaced: boolean
}

/** One thing that somebody may or may not do, as RBAC names it. */
export interface Access {
  readonly verb: 'get' | 'use'
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly resource: string
  /**
   * Undefined for what is cluster-scoped, and for nothing else: the API server would answer such a review, if it
   * carried a namespace, by that namespace's Roles; and one without a namespace means all of them.
   */
  readonly namespace: string | undefined
  readonly name: string
}

/** Asks the API server whether one certain person may do it. Throws a Failure where it could not be asked. */
export type Review = (access: Access) => Promise<boolean>

/**
 * Asks, unless name or namespace is empty: the API server takes a review without them for all objects, or for all
 * namespaces. Then the answer is no, and nobody is asked.
 */
export async function mayAccess(access: Access, review: Review): Promise<boolean> {
  return access.name !== '' && access.namespace !== '' && (await review(access))
}

/** How somebody may use a Secret: read it, or have it used only where its own annotation says so. */
export type SecretRight = 'get' | 'use'

/** The access to one object of a kind; `apiVersion` is `group/version`, or the version alone for the core group. */
export function accessTo(
  verb: Access['verb'],
  served: ServedKind,
  object: { readonly apiVersion: string; readonly namespace: string; readonly name: string },
): Access {
  const slash = object.apiVersion.indexOf('/')
  return {
    verb,
    group: slash < 0 ? '' : object.apiVersion.slice(0, slash),
    version: object.apiVersion.slice(slash + 1),
    resource: served.plural,
    namespace: served.namespaced ? object.namespace : undefined,
    name: object.name,
  }
}
