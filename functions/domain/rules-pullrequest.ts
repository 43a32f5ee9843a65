import type { RepositoryAddress } from './address.ts'
import { repositoryAt } from './api-place.ts'
import { fault, notSupported } from './fault.ts'
import type { Fault } from './fault.ts'
import type { Detail, Host } from './hosts.ts'
import { member, textMember } from './member.ts'

const PEOPLE = ['reviewers', 'assignees'] as const
/** As in the schema. */
const MOST_PEOPLE = 50
const LONGEST_PERSON = 255
const DETAILS = ['labels', 'reviewers', 'assignees', 'draft'] as const satisfies readonly Detail[]

/**
 * What of a pull request this host does not have, or writes otherwise: the repository's path, the branch of a fork,
 * details, and the names of people.
 */
export function pullRequestFaults(spec: unknown, address: RepositoryAddress, host: Host): readonly Fault[] {
  return [
    ...repositoryFaults(spec, address, host),
    ...forkFaults(spec, host),
    ...detailFaults(spec, host),
    ...peopleFaults(spec, host),
  ]
}

function repositoryFaults(spec: unknown, address: RepositoryAddress, host: Host): readonly Fault[] {
  const place = repositoryAt(address, textMember(member(spec, 'providerConfig'), 'baseURL'))
  const fits = host.repositoryPath === 'two' ? place.length === 2 : place.length >= 2
  if (fits) return []
  const expected = host.repositoryPath === 'two' ? 'owner and name' : 'a group and a name'
  return [
    fault(
      'spec.repository',
      `does not name ${expected}, as a repository on ${host.name} has them; mend its path.`,
    ),
  ]
}

function forkFaults(spec: unknown, host: Host): readonly Fault[] {
  const head = textMember(spec, 'headBranch') ?? ''
  if (host.forks || !head.includes(':')) return []
  return [notSupported('spec.headBranch', `the branch of a fork on ${host.name}`)]
}

function detailFaults(spec: unknown, host: Host): readonly Fault[] {
  const lacking = DETAILS.filter((detail) => host.lacks.includes(detail) && isAsked(member(spec, detail)))
  return lacking.map((detail) => fault(`spec.${detail}`, `cannot be set on ${host.name}; leave it out.`))
}

function peopleFaults(spec: unknown, { name, person, lacks }: Host): readonly Fault[] {
  if (person === undefined) return []
  return PEOPLE.filter((field) => !lacks.includes(field)).flatMap((field) => {
    const people = member(spec, field)
    const fits =
      !Array.isArray(people) || people.slice(0, MOST_PEOPLE).every((one) => isPerson(one, person.pattern))
    return fits
      ? []
      : [fault(`spec.${field}`, `names somebody otherwise than ${name} does; write ${person.expects}.`)]
  })
}

// What is no text, or too long, the schema speaks of.
function isPerson(written: unknown, pattern: RegExp): boolean {
  return typeof written !== 'string' || written.length > LONGEST_PERSON || pattern.test(written)
}

function isAsked(value: unknown): boolean {
  return value === true || (Array.isArray(value) && value.length > 0)
}
