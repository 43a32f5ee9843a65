import { createHash } from 'node:crypto'
import { textMember } from '../json-value.ts'
import type { Kind } from '../resource/resource.ts'

/**
 * The extension `partitionkey` of an event: 32 hex digits, equal for the same repository address and branch, so that an
 * ordered Broker hands one branch to one consumer. Two spellings of one branch may differ: the key only saves races,
 * the push itself decides them.
 */
export function partitionKey(kind: Kind, spec: unknown): string {
  const repository = (textMember(spec, 'repository') ?? '').replace(/\.git$/, '')
  const branch = textMember(spec, kind === 'GitCommit' ? 'branch' : 'headBranch')
  return createHash('sha256')
    .update(JSON.stringify([repository, branch]))
    .digest('hex')
    .slice(0, 32)
}
