import { ended } from '../cluster/calls/exchange.ts'
import type { Cluster, NamedObject } from '../cluster/cluster.ts'
import { unlessAborted } from '../domain/deadline.ts'
import { writtenReferences, type WrittenReference } from '../domain/commit/references.ts'
import { SECRETS } from '../domain/gate/secrets.ts'
import { isSecretField, type ReferenceField } from '../domain/spec/spec.ts'
import { MISSING } from '../domain/resource/waiting.ts'
import type { Parsed } from '../domain/schema/parse.ts'

/** A look that has no answer by then has failed: it holds a place of its namespace. */
export const LONGEST_LOOK_MS = 5_000

/** The object that this field of a spec names; undefined if it names none. `namespace`: of the resource. */
export function objectNamed(
  field: ReferenceField,
  namespace: string,
  parsed: Parsed,
): NamedObject | undefined {
  if (!parsed.sound) return undefined
  if (!isSecretField(field)) {
    const written = parsed.kind === 'GitCommit' ? writtenReferences(parsed.spec) : []
    return objectIn(written.find((one) => one.field === field)?.reference, namespace)
  }
  const { credentials, fallbackCredentials } = parsed.spec
  const signing = parsed.kind === 'GitCommit' ? parsed.spec.signing : undefined
  const named = {
    'spec.credentials': credentials,
    'spec.fallbackCredentials': fallbackCredentials,
    'spec.signing': signing,
  }
  const name = named[field]?.secretName
  return name === undefined ? undefined : { apiVersion: 'v1', kind: 'Secret', namespace, name }
}

/** The objects that this GitCommit refers to, some more than once; none where its spec cannot be read. `namespace`: of the resource. */
export function objectsReferredTo(parsed: Parsed, namespace: string): readonly NamedObject[] {
  if (!parsed.sound || parsed.kind !== 'GitCommit') return []
  return writtenReferences(parsed.spec).flatMap(({ reference }) => objectIn(reference, namespace) ?? [])
}

/** The object of this reference, as far as it was written. `namespace`: of the resource. */
export function objectIn(
  reference: WrittenReference['reference'] | undefined,
  namespace: string,
): NamedObject | undefined {
  const { apiVersion, kind, name, namespace: of } = reference ?? {}
  return apiVersion && kind && name ? { apiVersion, kind, name, namespace: of ?? namespace } : undefined
}

/**
 * Looks at an object: one GET of its metadata, and one of discovery where the cluster does not serve its kind or has not been
 * asked for a minute. Returns its version, MISSING or UNREADABLE. Throws a Failure if the API server does not say, or not within
 * 5 s. `owner`: the namespace of the resource that names the object.
 */
export async function look(
  named: NamedObject,
  owner: string,
  cluster: Pick<Cluster, 'discover' | 'readVersion'>,
): Promise<string> {
  const signal = AbortSignal.timeout(LONGEST_LOOK_MS)
  const isSecret = named.apiVersion === 'v1' && named.kind === 'Secret'
  const served = isSecret
    ? SECRETS
    : await unlessAborted(cluster.discover(named.apiVersion, named.kind), signal, ended)
  if (served === undefined) return MISSING
  return unlessAborted(cluster.readVersion(named, served, { namespace: owner, signal }), signal, ended)
}
