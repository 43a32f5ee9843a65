import { member, textMember } from '../json-value.ts'
import { REQUEST_GENERATION } from '../resource/api-names.ts'
import { requestGeneration } from '../resource/attempt-state.ts'

/**
 * The generation that a request will have once it is stored, which its stamp names: 1 on CREATE, where `before` is
 * undefined; the next one if the spec changes; else that of the request before it. Undefined: `before` tells none.
 */
export function generationToStamp(before: unknown, isSameSpec: boolean): number | undefined {
  if (before === undefined) return 1
  const metadata = member(before, 'metadata')
  const generation = member(metadata, 'generation')
  if (typeof generation !== 'number') return undefined
  if (!isSameSpec) return generation + 1
  const noted = textMember(member(metadata, 'annotations'), REQUEST_GENERATION)
  return requestGeneration({
    generation,
    annotations: noted === undefined ? {} : { [REQUEST_GENERATION]: noted },
  })
}

/** Whether a stamp that was read may be that of the request with this generation: an older one does not name it. */
export function isOfGeneration(stamped: unknown, generation: number): boolean {
  const named = member(stamped, 'generation')
  return named === undefined || named === generation
}

/**
 * Whether the generation differs. The API server raises it also where a number is written in another way (`1.0` for
 * `1`), which changes no JSON value and is no request.
 */
export function changesGeneration(before: unknown, after: unknown): boolean {
  const [had, has] = [before, after].map((one) => member(member(one, 'metadata'), 'generation'))
  return had !== undefined && has !== undefined && had !== has
}

/** Whether two stamps are of one requester, and one of them names another generation than the other, or none. */
export function differInGeneration(one: string | undefined, other: string | undefined): boolean {
  if (one === other || one === undefined || other === undefined) return false
  return withoutGeneration(one) === withoutGeneration(other)
}

function withoutGeneration(stamp: string): string {
  return stamp.replace(/,"generation":\d+(?=[,}])/, '')
}
