import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import type { SecretRights } from './secrets.ts'
import { member, textMember } from '../json-value.ts'

const FIELDS = ['spec.credentials', 'spec.fallbackCredentials'] as const

/**
 * The branch of a fork is in a repository that neither an annotation nor the operator has named: only who may read
 * the Secret may have it go there. Nothing is said where a Secret may not be used at all.
 */
export function forkErrors(spec: unknown, rights: SecretRights): readonly FieldError[] {
  const head = textMember(spec, 'headBranch') ?? ''
  if (!head.includes(':')) return []
  const field = 'spec.headBranch'
  if (member(spec, 'credentials') === undefined) {
    const complaint =
      "is the branch of a fork, for which the operator's default credentials are not; name a Secret."
    return [fieldError(field, complaint, 'ReferenceForbidden')]
  }
  if (!FIELDS.some((name) => rights[name] === 'use')) return []
  const complaint =
    'is the branch of a fork, for which you need the right to `get` the Secret; `use` is not enough.'
  return [fieldError(field, complaint, 'ReferenceForbidden')]
}
