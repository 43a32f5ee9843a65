import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import type { Detail, Form, Host } from '../repository/hosts.ts'
import type { Target } from '../repository/target.ts'
import type { PullRequestSpec } from '../spec/spec.ts'
import type { Draft } from '../schema/draft.ts'

/** Wrong entries of one list that are named; it may have a million. */
const MOST_NAMED = 10
const USER_FIELDS = ['reviewers', 'assignees'] as const
/** No host has "@" or "/" in a user name, but users write "@" as hosts show it, or "/" for a team. */
const USER_NAME: Form = {
  pattern: /^[^@/][^/]*$/,
  expects: 'user names without "@", and not those of teams or groups',
}
const DETAILS = ['labels', 'reviewers', 'assignees', 'draft'] as const satisfies readonly Detail[]

/**
 * The parts of a pull request that this host does not support, or has in another form: the repository's path, the
 * branch of a fork, details, and the names of users and labels.
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
    ...USER_FIELDS.flatMap((field) => nameErrors(spec, field, { host, form: host.person ?? USER_NAME })),
    ...(host.label === undefined ? [] : nameErrors(spec, 'labels', { host, form: host.label })),
  ]
}

function repositoryErrors({ repository }: Target, host: Host): readonly FieldError[] {
  // On a host with nested groups, a segment "-" separates the repository from its pages.
  if (host.repositoryPath === 'two or more' && repository.includes('-')) {
    const complaint = `has "-" as a part of its path, after which ${host.name} puts the pages of a repository; write the address of the repository itself.`
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
      `does not name ${expected}, as a repository on ${host.name} has them; fix its path.`,
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
  const lacking = DETAILS.filter((detail) => host.lacks.includes(detail) && isSet(spec[detail]))
  return lacking.map((detail) => fieldError(`spec.${detail}`, `cannot be set on ${host.name}; leave it out.`))
}

function nameErrors(
  spec: Draft<PullRequestSpec>,
  field: 'labels' | (typeof USER_FIELDS)[number],
  { host, form }: { readonly host: Host; readonly form: Form },
): readonly FieldError[] {
  if (host.lacks.includes(field)) return []
  const what = field === 'labels' ? 'a label' : 'a user'
  const complaint = `names ${what} in a form that ${host.name} does not use; write ${form.expects}.`
  const errors: FieldError[] = []
  for (const [index, name] of (spec[field] ?? []).entries()) {
    if (errors.length === MOST_NAMED) break
    // The schema reports an entry that is not a string or is too long.
    if (name !== null && !form.pattern.test(name))
      errors.push(fieldError(`spec.${field}[${index}]`, complaint))
  }
  return errors
}

function isSet(value: Draft<PullRequestSpec>[Detail]): boolean {
  return value === true || (Array.isArray(value) && value.length > 0)
}
