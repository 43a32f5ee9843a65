/**
 * An own member of a JSON object; undefined if there is none, or the value is not an object.
 * Own members only: no input can reach Object.prototype.
 */
export function member(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

/** Is this a JSON object? */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A member that is a string, else undefined. */
export function textMember(value: unknown, key: string): string | undefined {
  const found = member(value, key)
  return typeof found === 'string' ? found : undefined
}

/** The elements of a JSON array; none for anything else. */
export function elements(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Keys and values of a JSON object; none for anything else. */
export function entries(value: unknown): readonly (readonly [string, unknown])[] {
  return isRecord(value) ? Object.entries(value) : []
}

/** The value of a JSON text; undefined: it is none. */
export function parsedJSON(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Equal as JSON values, in any order of an object's keys. Does not recurse: no depth can crash it. */
export function sameJSON(one: unknown, other: unknown): boolean {
  const open: unknown[] = [one, other]
  while (open.length > 0) {
    const [b, a] = [open.pop(), open.pop()]
    if (a === b) continue
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
    const isEqual = Array.isArray(a) ? sameItems(a, b, open) : sameMembers(a, b, open)
    if (!isEqual) return false
  }
  return true
}

/** Whether both are lists of one length; the pairs of items that still have to be equal go into `open`. */
function sameItems(a: readonly unknown[], b: object, open: unknown[]): boolean {
  if (!Array.isArray(b) || a.length !== b.length) return false
  for (const [index, item] of a.entries()) if (item !== b[index]) open.push(item, b[index])
  return true
}

/** The same for objects with the same keys. */
function sameMembers(a: object, b: object, open: unknown[]): boolean {
  const keys = Object.keys(a)
  if (Array.isArray(b) || keys.length !== Object.keys(b).length) return false
  for (const key of keys) {
    if (!Object.hasOwn(b, key)) return false
    const ours: unknown = Reflect.get(a, key)
    const theirs: unknown = Reflect.get(b, key)
    if (ours !== theirs) open.push(ours, theirs)
  }
  return true
}
