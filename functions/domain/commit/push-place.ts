import { createHash } from 'node:crypto'
import type { Parsed } from '../schema/parse.ts'

/**
 * Where the changes of this spec are pushed to, as a digest of 16 hex digits: the repository and the branch as they are written.
 * Undefined for a spec that pushes nothing.
 */
export function pushPlace(parsed: Parsed): string | undefined {
  if (!parsed.sound || parsed.kind !== 'GitCommit') return undefined
  const { branch = '' } = parsed.spec
  return createHash('sha256')
    .update(`commitlet.dev/v1 place\n${JSON.stringify([parsed.target.address.text, branch])}`)
    .digest('hex')
    .slice(0, 16)
}
