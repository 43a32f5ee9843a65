import type { Kind } from '../../functions/domain/resource/api-names.ts'
import { isObjectName } from '../../functions/domain/resource/resource.ts'
import { UsageError } from '../terminal/exit-codes.ts'

/** What a command is about, as it was named. */
export interface Named {
  readonly kind: Kind | 'Secret'
  readonly name: string
}

const KINDS: Readonly<Record<string, Named['kind']>> = {
  gitcommit: 'GitCommit',
  gitcommits: 'GitCommit',
  gcommit: 'GitCommit',
  pullrequest: 'PullRequest',
  pullrequests: 'PullRequest',
  gpr: 'PullRequest',
  secret: 'Secret',
  secrets: 'Secret',
}

/**
 * Reads `NAME`, `KIND/NAME` or `KIND NAME`, with the names that kubectl knows; a name alone is that of a GitCommit.
 * @throws UsageError
 */
export function namedBy(words: readonly string[]): Named {
  const [kindWord = '', name = '', ...more] = words.join('/').includes('/')
    ? words.join('/').split('/')
    : ['gitcommit', ...words]
  const kind = KINDS[kindWord.toLowerCase().replace(/\.commitlet\.dev$/, '')]
  if (kind === undefined)
    throw new UsageError(
      `"${kindWord}" is no kind that Commitlet knows; write gitcommit/NAME, pullrequest/NAME or secret/NAME.`,
    )
  if (!isObjectName(name) || more.length > 0)
    throw new UsageError(
      `"${words.join(' ')}" names no object; write gitcommit/NAME, pullrequest/NAME or secret/NAME.`,
    )
  return { kind, name }
}
