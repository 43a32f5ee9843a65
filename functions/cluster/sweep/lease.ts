import { isRecord, member, textMember } from '../../domain/json-value.ts'
import type { ApiServer } from '../api-server.ts'
import { bodyOf } from '../calls/answer.ts'

/** The fields of a Lease of coordination.k8s.io/v1 that decide who holds it. */
export interface LeaseTerms {
  /** Empty: nobody holds it. */
  readonly holder: string
  readonly durationSeconds: number
  /** RFC 3339. */
  readonly acquireTime: string
  readonly renewTime: string
  /** How often it has changed its holder. */
  readonly transitions: number
}

/** A Lease as it was read. `object` is the whole of it, which a write sends back. */
export interface StoredLease extends LeaseTerms {
  readonly object: Readonly<Record<string, unknown>>
}

/** One Lease. Both calls throw a Failure: ReferenceForbidden, RateLimited, NetworkError, Timeout or ProviderUnavailable. */
export interface LeaseStore {
  /** Undefined if there is none yet. */
  readonly read: () => Promise<StoredLease | undefined>
  /** Writes the terms over what was read, or creates it. Returns what is stored; undefined if another writer was first. */
  readonly write: (terms: LeaseTerms, over: StoredLease | undefined) => Promise<StoredLease | undefined>
}

/** Where the Lease is. */
export interface LeaseName {
  readonly namespace: string
  readonly name: string
}

/** The Lease of this name at the API server. */
export function leaseAt(server: ApiServer, { namespace, name }: LeaseName): LeaseStore {
  const all = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`
  const path = `${all}/${encodeURIComponent(name)}`
  const what = `Lease ${namespace}/${name}`
  const blank = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { namespace, name } }

  return {
    async read() {
      const answer = await server({ method: 'GET', path })
      return answer.status === 404 ? undefined : leaseIn(bodyOf(answer, what))
    },
    async write(terms, over) {
      const object = over?.object ?? blank
      const kept = member(object, 'spec')
      const body = { ...object, spec: { ...(isRecord(kept) ? kept : {}), ...specOf(terms) } }
      const answer =
        over === undefined
          ? await server({ method: 'POST', path: all, body })
          : await server({ method: 'PUT', path, body })
      // 404: it was deleted meanwhile.
      if (answer.status === 409 || answer.status === 404) return undefined
      return leaseIn(bodyOf(answer, what))
    },
  }
}

function leaseIn(body: unknown): StoredLease {
  const spec = member(body, 'spec')
  const numberOf = (key: string): number => {
    const value = member(spec, key)
    return typeof value === 'number' ? value : 0
  }
  return {
    object: isRecord(body) ? body : {},
    holder: textMember(spec, 'holderIdentity') ?? '',
    durationSeconds: numberOf('leaseDurationSeconds'),
    acquireTime: textMember(spec, 'acquireTime') ?? '',
    renewTime: textMember(spec, 'renewTime') ?? '',
    transitions: numberOf('leaseTransitions'),
  }
}

function specOf(terms: LeaseTerms): Readonly<Record<string, unknown>> {
  return {
    holderIdentity: terms.holder,
    leaseDurationSeconds: terms.durationSeconds,
    acquireTime: terms.acquireTime,
    renewTime: terms.renewTime,
    leaseTransitions: terms.transitions,
  }
}
