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

/** Equal as JSON values, in any order of an object's keys. Does not recurse: no depth can crash it. */
export function sameJSON(one: unknown, other: unknown): boolean {
  const open: [unknown, unknown][] = [[one, other]]
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const children = childrenOf(pair[0], pair[1])
    if (children === undefined) return false
    for (const child of children) open.push(child)
  }
  return true
}

/** The pairs that have to be equal for the two values to be equal; undefined if the values differ already. */
function childrenOf(a: unknown, b: unknown): [unknown, unknown][] | undefined {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) {
    return a === b ? [] : undefined
  }
  const keys = Object.keys(a)
  if (Array.isArray(a) !== Array.isArray(b) || keys.length !== Object.keys(b).length) return undefined
  if (!keys.every((key) => Object.hasOwn(b, key))) return undefined
  return keys.map((key) => [Reflect.get(a, key), Reflect.get(b, key)])
}
