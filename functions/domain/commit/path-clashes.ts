import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import type { WrittenPath } from '../repository/committed-path.ts'

/** What one part of a path leads to: the field that writes a file there, and the parts that follow. */
interface Place {
  field?: string
  readonly within: Map<string, Place>
}

/** The errors of paths that are the same as another one, or below a file. Takes time in proportion to the paths. */
export function clashErrors(written: readonly WrittenPath[]): readonly FieldError[] {
  const top: Place = { within: new Map() }
  const ways = written.map(({ field, path }) => ({ field, way: wayTo(path, field, top) }))
  return ways.flatMap(({ field, way }) => {
    const same = way.at(-1)?.field
    if (same !== field) return [fieldError(field, `is the same path as ${same ?? ''}; write each file once.`)]
    const file = way.slice(0, -1).find((place) => place.field !== undefined)?.field
    return file === undefined
      ? []
      : [fieldError(field, `is below ${file}, which is a file; choose another path.`)]
  })
}

/** The places of all parts of a path; the field that writes the last one first is kept. */
function wayTo(path: string, field: string, top: Place): readonly Place[] {
  let place = top
  const way = path.split('/').map((part) => {
    const next = place.within.get(part) ?? { within: new Map<string, Place>() }
    place.within.set(part, next)
    place = next
    return next
  })
  place.field ??= field
  return way
}
