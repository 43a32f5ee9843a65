import type { ServedKind } from './access.ts'
import { parseRepositoryAddress } from './address.ts'
import type { RepositoryAddress } from './address.ts'
import { calledAddresses } from './api-place.ts'
import { allows } from './allowed-repositories.ts'
import type { Failure } from './failure.ts'
import { failureOfFaults, fault } from './fault.ts'
import type { Fault } from './fault.ts'
import { forkFaults } from './gate-fork.ts'
import { judgeReference } from './gate-reference.ts'
import { judgeSecrets } from './gate-secrets.ts'
import type { SecretRights } from './gate-secrets.ts'
import { member, textMember } from './member.ts'
import type { Outside } from './outside.ts'
import { isInsecure } from './insecure-hosts.ts'
import { kindOf, schemaFaults } from './parse.ts'
import type { Kind } from './resources.ts'
import { specFaults, specWarnings } from './rules.ts'

/** Everything that is wrong with a resource, and what its author should know besides. */
export interface Verdict {
  readonly faults: readonly Fault[]
  readonly warnings: readonly string[]
  /** How the referenced kind was served when it was judged: only what was judged may be read. */
  readonly served: ServedKind | undefined
  readonly secretRights: SecretRights
}

/**
 * The one decision about a resource, made at apply and again at each attempt: schema, rules, reference, and the
 * rights of who asks. The object need not be stored yet and may be anything at all.
 * All faults at once: what a check finds of a field is left out where one before it speaks of that field. No faults
 * means that it may be carried out.
 */
export async function judge(resource: unknown, outside: Outside): Promise<Verdict> {
  const kind = kindOf(resource)
  const shape = schemaFaults(resource)
  if (kind === undefined) return { ...NOTHING_KNOWN, faults: shape }
  const spec = member(resource, 'spec')
  const rules = specFaults(kind, spec)
  // A rule knows better what is wrong with a text than the pattern that it does not match.
  const written = [...without(shape, rules), ...rules]
  const faults = [...written, ...repositoryFaults({ kind, spec }, written, outside)]
  const [reference, secrets] = await Promise.all([
    kind === 'GitCommit' ? judgeReference(spec, faults, outside) : undefined,
    judgeSecrets(spec, faults, outside),
  ])
  const fork = kind === 'PullRequest' ? forkFaults(spec, secrets.rights) : []
  const others = [...(reference?.faults ?? []), ...secrets.faults, ...fork]
  return {
    faults: [...faults, ...without(others, faults)],
    warnings: [...specWarnings(spec), ...(reference?.warnings ?? [])],
    served: reference?.served,
    secretRights: secrets.rights,
  }
}

/** The Failure with which an attempt at a faulty resource ends: the first fault's reason, every fault's sentence. */
export function failureOf(verdict: Pick<Verdict, 'faults'>): Failure | undefined {
  return failureOfFaults(verdict.faults)
}

const NOTHING_KNOWN: Verdict = { faults: [], warnings: [], served: undefined, secretRights: {} }

/** The faults whose fields none of the others speaks of. */
function without(faults: readonly Fault[], others: readonly Fault[]): readonly Fault[] {
  return faults.filter(({ field }) => !others.some((other) => other.field === field))
}

// Before any name is looked up: what the operator does not allow is not even called.
function repositoryFaults(
  { kind, spec }: { readonly kind: Kind; readonly spec: unknown },
  found: readonly Fault[],
  { allowedRepositories, insecureHosts }: Outside,
): readonly Fault[] {
  const text = textMember(spec, 'repository')
  const faulty = found.some(({ field }) => field === 'spec.repository')
  if (text === undefined || faulty) return []
  const address = parseRepositoryAddress(text)
  if (address.scheme === 'http' && !isInsecure(address, insecureHosts))
    return [fault('spec.repository', 'begins with http://, which is not encrypted; write https:// instead.')]
  const covers = (called: RepositoryAddress): boolean =>
    allowedRepositories === undefined || allows(allowedRepositories, called)
  if (calledAddresses(kind, address).every(covers)) return []
  const complaint =
    'is not one of the repositories that the operator allows (ALLOWED_REPOSITORIES); name another, or ask whoever runs Commitlet.'
  return [fault('spec.repository', complaint, 'AddressForbidden')]
}
