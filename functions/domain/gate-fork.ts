import { fault } from './fault.ts'
import type { Fault } from './fault.ts'
import type { SecretRights } from './gate-secrets.ts'
import { member, textMember } from './member.ts'

const FIELDS = ['spec.credentials', 'spec.fallbackCredentials'] as const

/**
 * The branch of a fork is in a repository that neither an annotation nor the operator has named: only who may read
 * the Secret may have it go there. Nothing is said where a Secret may not be used at all.
 */
export function forkFaults(spec: unknown, rights: SecretRights): readonly Fault[] {
  const head = textMember(spec, 'headBranch') ?? ''
  if (!head.includes(':')) return []
  const field = 'spec.headBranch'
  if (member(spec, 'credentials') === undefined) {
    const complaint =
      "is the branch of a fork, for which the operator's default credentials are not; name a Secret."
    return [fault(field, complaint, 'ReferenceForbidden')]
  }
  if (!FIELDS.some((name) => rights[name] === 'use')) return []
  const complaint =
    'is the branch of a fork, for which you need the right to `get` the Secret; `use` is not enough.'
  return [fault(field, complaint, 'ReferenceForbidden')]
}
