import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import type { RepositoryAddress } from '../repository/address.ts'
import { branchComplaint, shortBranchName } from '../repository/branch-name.ts'
import { likelyRepository, repositoryOfPage } from '../repository/page.ts'
import type { Target } from '../repository/target.ts'
import type { Readable } from '../schema/parse.ts'

/** The error of the address of a page at a public host, as users copy it from their browser. */
export function pageErrors(target: Target | undefined): readonly FieldError[] {
  const address = target?.address
  const repository = address && repositoryOfPage(address.host, address.segments)
  if (address === undefined || repository === undefined) return []
  const complaint = `goes on after the path of a repository, as the address of a page does; write ${addressOf(repository, address)} instead.`
  return [fieldError('spec.repository', complaint)]
}

/** Warnings about what is valid, and probably not what the author means: the page of a repository, the branch of a clone. */
export function likelyMistakes(parsed: Readable): readonly string[] {
  const { fieldErrors } = parsed
  return [...pageWarnings(parsed.target), ...branchWarnings(parsed)].flatMap(({ field, warning }) =>
    // What looks like a credential is never repeated.
    fieldErrors.some((error) => error.field === field) ? [] : [`${field} ${warning}`],
  )
}

interface Likely {
  readonly field: string
  readonly warning: string
}

function pageWarnings(target: Target | undefined): readonly Likely[] {
  const address = target?.address
  const repository = address && likelyRepository(address.host, address.segments)
  if (address === undefined || repository === undefined) return []
  const warning = `looks like the address of a page of a repository; if it is one, write ${addressOf(repository, address)} instead.`
  return [{ field: 'spec.repository', warning }]
}

// A branch may have such a name, but mostly the name of a clone's remote is meant.
function branchWarnings({ kind, spec }: Readable): readonly Likely[] {
  const names =
    kind === 'GitCommit'
      ? { 'spec.branch': spec.branch }
      : { 'spec.baseBranch': spec.baseBranch, 'spec.headBranch': spec.headBranch }
  return Object.entries(names).flatMap(([field, name]) => {
    const short = branchComplaint(name ?? '') === undefined ? shortBranchName(name ?? '') : undefined
    if (short === undefined) return []
    const warning = `begins with "origin/", which is a part of the name at the host, too; if you mean the branch ${short}, write ${short} instead.`
    return [{ field, warning }]
  })
}

/** The address of this repository at the place of another address. */
function addressOf(repository: readonly string[], { text, segments }: RepositoryAddress): string {
  const written = segments.join('/').length + (text.endsWith('.git') ? '.git'.length : 0)
  return text.slice(0, text.length - written) + repository.join('/')
}
