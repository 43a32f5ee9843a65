import { Failure } from './failure.ts'
import { fault } from './fault.ts'
import type { Fault } from './fault.ts'
import { member, textMember } from './member.ts'
import { kindOf, schemaFaults } from './parse.ts'
import { specFaults, specWarnings } from './rules.ts'

/** What the decision needs of the outside. Its functions may throw a Failure: then nothing is decided. */
export interface Outside {
  /** Looks a kind up by discovery; undefined where the cluster does not know it. */
  readonly discover: (
    apiVersion: string,
    kind: string,
  ) => Promise<{ readonly namespaced: boolean } | undefined>
  /** `namespace`: only objects of the resource's own namespace may be referred to. */
  readonly referenceScope: 'namespace' | 'any'
}

/** Everything that is wrong with a resource, and what its author should know besides. */
export interface Verdict {
  readonly faults: readonly Fault[]
  readonly warnings: readonly string[]
}

/**
 * The one decision about a resource, made at apply and again at each attempt: schema, rules and reference. The
 * object need not be stored yet (of its metadata only the namespace is read) and may be anything at all.
 * All faults at once, one for a field; no faults means that it may be carried out.
 */
export async function judge(resource: unknown, outside: Outside): Promise<Verdict> {
  const kind = kindOf(resource)
  const shape = schemaFaults(resource)
  if (kind === undefined) return { faults: shape, warnings: [] }
  const spec = member(resource, 'spec')
  const rules = specFaults(kind, spec)
  // A rule knows better what is wrong with a text than the pattern that it does not match.
  const faults = [...shape.filter(({ field }) => !rules.some((other) => other.field === field)), ...rules]
  const reference = kind === 'GitCommit' ? await judgeReference(resource, faults, outside) : NOTHING_WRONG
  const others = reference.faults.filter(({ field }) => !faults.some((other) => other.field === field))
  return {
    faults: [...faults, ...others],
    warnings: [...specWarnings(spec), ...reference.warnings],
  }
}

/** The Failure with which an attempt at a faulty resource ends: the first fault's reason, every fault's sentence. */
export function failureOf(verdict: Verdict): Failure | undefined {
  const [first] = verdict.faults
  if (first === undefined) return undefined
  return new Failure(first.reason, verdict.faults.map(({ message }) => message).join(' '))
}

const NOTHING_WRONG: Verdict = { faults: [], warnings: [] }

async function judgeReference(
  resource: unknown,
  found: readonly Fault[],
  outside: Outside,
): Promise<Verdict> {
  const reference = member(member(resource, 'spec'), 'resourceRef')
  const apiVersion = textMember(reference, 'apiVersion')
  const kind = textMember(reference, 'kind')
  const isFaulty = found.some(({ field }) => /^spec\.resourceRef(?:\.(?:apiVersion|kind))?$/.test(field))
  if (apiVersion === undefined || kind === undefined || isFaulty) return NOTHING_WRONG
  const served = await outside.discover(apiVersion, kind)
  const warnings =
    served === undefined
      ? [
          `spec.resourceRef.kind is ${kind} of ${apiVersion}, which the cluster does not know (yet); it is looked for again.`,
        ]
      : []
  const named = {
    namespace: textMember(reference, 'namespace'),
    own: textMember(member(resource, 'metadata'), 'namespace'),
  }
  const faults =
    served?.namespaced === false ? clusterScoped(kind, named, outside) : namespaced(named, outside)
  return { faults, warnings }
}

interface Named {
  readonly namespace: string | undefined
  readonly own: string | undefined
}

function clusterScoped(kind: string, { namespace }: Named, { referenceScope }: Outside): readonly Fault[] {
  const given =
    namespace === undefined
      ? []
      : [
          fault(
            'spec.resourceRef.namespace',
            `is given, but objects of kind ${kind} have none; leave it out.`,
          ),
        ]
  if (referenceScope === 'any') return given
  const complaint = `is ${kind}, which belongs to no namespace, but only objects of this namespace may be committed here; name another kind.`
  return [...given, fault('spec.resourceRef.kind', complaint, 'ReferenceForbidden')]
}

function namespaced({ namespace, own }: Named, { referenceScope }: Outside): readonly Fault[] {
  if (referenceScope === 'any' || namespace === undefined || namespace === own) return []
  const complaint = `is "${namespace.slice(0, 63)}", but only objects of the own namespace may be committed here; leave it out.`
  return [fault('spec.resourceRef.namespace', complaint, 'ReferenceForbidden')]
}
