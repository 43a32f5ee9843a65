/** How the API server serves a kind, according to discovery. */
export interface ServedKind {
  /** Name of the resource in paths and in RBAC, which may differ from the name of the kind. */
  readonly plural: string
  readonly namespaced: boolean
}

/** One access to an object that a user may have, in the terms of RBAC. */
export interface Access {
  readonly verb: 'get' | 'use'
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
  readonly resource: string
  /**
   * Undefined if, and only if, the object is cluster-scoped: with a namespace the API server would also apply the Roles
   * of that namespace, and for a namespaced kind no namespace means all namespaces.
   */
  readonly namespace: string | undefined
  readonly name: string
}

/** Asks the API server whether a certain user has this access. Throws a Failure if it cannot ask. */
export type Review = (access: Access) => Promise<boolean>

/**
 * Asks whether the user has the access. If name or namespace is empty, the answer is no without asking: for the API
 * server an empty one means all objects, or all namespaces.
 */
export async function mayAccess(access: Access, review: Review): Promise<boolean> {
  return access.name !== '' && access.namespace !== '' && (await review(access))
}

/** How a user may use a Secret: read it, or have it used only where its own annotation allows. */
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
