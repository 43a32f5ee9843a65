import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import type { Detail, Form, Host } from '../repository/hosts.ts'
import type { Target } from '../repository/target.ts'
import type { PullRequestSpec } from '../resource/resource.ts'
import type { Draft } from '../schema/draft.ts'

const PEOPLE = ['reviewers', 'assignees'] as const
/** What no host has in a user name, and people write where a host shows them so, or mean a team. */
const USER_NAME: Form = {
  pattern: /^[^@/][^/]*$/,
  expects: 'user names, without "@" before them and none of a team or a group',
}
const DETAILS = ['labels', 'reviewers', 'assignees', 'draft'] as const satisfies readonly Detail[]

/**
 * What of a pull request this host does not have, or writes otherwise: the repository's path, the branch of a fork,
 * details, and the names of people and labels.
 */
export function pullRequestErrors(
  spec: Draft<PullRequestSpec>,
  target: Target,
  host: Host,
): readonly FieldError[] {
  return [
    ...repositoryErrors(target, host),
    ...forkErrors(spec, host),
    ...detailErrors(spec, host),
    ...PEOPLE.flatMap((field) => nameErrors(spec, field, { host, form: host.person ?? USER_NAME })),
    ...(host.label === undefined ? [] : nameErrors(spec, 'labels', { host, form: host.label })),
  ]
}

function repositoryErrors({ repository }: Target, host: Host): readonly FieldError[] {
  // Where groups nest, a part "-" parts a repository from its pages.
  if (host.repositoryPath === 'two or more' && repository.includes('-')) {
    const complaint = `has "-" as a part of its path, after which ${host.name} has the pages of a repository; write the address of the repository itself.`
    return [fieldError('spec.repository', complaint)]
  }
  const part = host.repositoryPart
  if (part !== undefined && !repository.every((written) => part.pattern.test(written))) {
    const complaint = `has a part of its path that ${host.name} does not have; write ${part.expects}.`
    return [fieldError('spec.repository', complaint)]
  }
  const isComplete = host.repositoryPath === 'two' ? repository.length === 2 : repository.length >= 2
  if (isComplete) return []
  const expected = host.repositoryPath === 'two' ? 'owner and name' : 'a group and a name'
  return [
    fieldError(
      'spec.repository',
      `does not name ${expected}, as a repository on ${host.name} has them; mend its path.`,
    ),
  ]
}

function forkErrors(spec: Draft<PullRequestSpec>, host: Host): readonly FieldError[] {
  const head = spec.headBranch ?? ''
  if (host.forks || !head.includes(':')) return []
  const complaint = `asks for the branch of a fork, which is not supported on ${host.name} yet; write the name of a branch of the repository itself.`
  return [fieldError('spec.headBranch', complaint, 'NotSupported')]
}

function detailErrors(spec: Draft<PullRequestSpec>, host: Host): readonly FieldError[] {
  const lacking = DETAILS.filter((detail) => host.lacks.includes(detail) && isAsked(spec[detail]))
  return lacking.map((detail) => fieldError(`spec.${detail}`, `cannot be set on ${host.name}; leave it out.`))
}

function nameErrors(
  spec: Draft<PullRequestSpec>,
  field: 'labels' | (typeof PEOPLE)[number],
  { host, form }: { readonly host: Host; readonly form: Form },
): readonly FieldError[] {
  const names = spec[field] ?? []
  // What is no text, or too long, the schema speaks of.
  if (host.lacks.includes(field) || names.every((name) => name === null || form.pattern.test(name))) return []
  const whom = field === 'labels' ? 'a label' : 'somebody'
  return [
    fieldError(`spec.${field}`, `names ${whom} otherwise than ${host.name} does; write ${form.expects}.`),
  ]
}

function isAsked(value: Draft<PullRequestSpec>[Detail]): boolean {
  return value === true || (Array.isArray(value) && value.length > 0)
}
