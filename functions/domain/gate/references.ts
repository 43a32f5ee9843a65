import { writtenReferences } from '../commit/references.ts'
import type { FieldError } from '../field-error.ts'
import type { GitCommitSpec, ObjectReference } from '../spec/spec.ts'
import type { Draft } from '../schema/draft.ts'
import type { ServedKind } from './access.ts'
import { judgeReference } from './reference.ts'
import type { ReviewContext } from './review-context.ts'

/** How the kinds that a resource refers to were served when they were reviewed, by `kindOf` of a reference. */
export type ServedKinds = ReadonlyMap<string, ServedKind>

/** The errors in all references of a GitCommit. */
export interface ReferencesVerdict {
  readonly fieldErrors: readonly FieldError[]
  readonly warnings: readonly string[]
  readonly served: ServedKinds
}

/** Reviews that are asked for at the same time. */
const SIDE_BY_SIDE = 16

/** What a reference names by apiVersion and kind. */
export function kindOf({ apiVersion, kind }: Pick<ObjectReference, 'apiVersion' | 'kind'>): string {
  return `${kind} of ${apiVersion}`
}

/**
 * Checks every reference of a GitCommit, side by side. Each kind is looked up once, and each object reviewed once, however
 * often it is referred to: all are told the same. What is in a list that was refused as a whole is not asked for: it may refer to
 * more objects than are allowed, or be so long that the schema has not looked at its entries.
 */
export async function judgeReferences(
  spec: Draft<GitCommitSpec>,
  found: readonly FieldError[],
  context: ReviewContext,
): Promise<ReferencesVerdict> {
  const faulty = new Set(found.map(({ field }) => field))
  const written = writtenReferences(spec).filter(
    ({ field }) => !listsOf(field).some((list) => faulty.has(list)),
  )
  const once = askingOnce(context)
  const verdicts: Awaited<ReturnType<typeof judgeReference>>[] = []
  for (let at = 0; at < written.length; at += SIDE_BY_SIDE) {
    const some = written.slice(at, at + SIDE_BY_SIDE)
    const judged = some.map(({ field, reference }) => judgeReference(reference, faulty, once, field))
    verdicts.push(...(await Promise.all(judged)))
  }
  const served = verdicts.flatMap((verdict, i) => {
    const { apiVersion, kind } = written[i]?.reference ?? {}
    if (verdict.served === undefined || !apiVersion || !kind) return []
    return [[kindOf({ apiVersion, kind }), verdict.served] as const]
  })
  return {
    fieldErrors: verdicts.flatMap(({ fieldErrors }) => fieldErrors),
    warnings: verdicts.flatMap(({ warnings }) => warnings),
    served: new Map(served),
  }
}

/** The lists of the spec that hold this field. */
function listsOf(field: string): readonly string[] {
  return [...field.matchAll(/\[\d+\]/g)].map(({ index }) => field.slice(0, index))
}

function askingOnce(context: ReviewContext): ReviewContext {
  const discovered = new Map<string, ReturnType<ReviewContext['discover']>>()
  const reviewed = new Map<string, ReturnType<ReviewContext['review']>>()
  return {
    ...context,
    discover: (apiVersion, kind) =>
      remembered(discovered, kindOf({ apiVersion, kind }), () => context.discover(apiVersion, kind)),
    review: (access) => remembered(reviewed, JSON.stringify(access), () => context.review(access)),
  }
}

function remembered<T>(known: Map<string, T>, key: string, ask: () => T): T {
  const answer = known.get(key) ?? ask()
  known.set(key, answer)
  return answer
}
