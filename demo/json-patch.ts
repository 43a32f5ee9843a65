import { elements, member, textMember } from '../functions/domain/json-value.ts'

type JSONObject = Record<string, unknown>

/**
 * Applies a JSON Patch (RFC 6902) to a copy: `add` and `remove` on objects, which is all that the webhook uses. Throws
 * for any other operation and for a path that does not exist.
 */
export function applyPatch<T extends object>(document: T, patch: unknown): T {
  const copy = structuredClone(document)
  for (const operation of elements(patch)) applyOperation(copy, operation)
  return copy
}

function applyOperation(document: object, operation: unknown): void {
  const kind = textMember(operation, 'op')
  const keys = (textMember(operation, 'path') ?? '').split('/').slice(1).map(unescape)
  const last = keys.pop()
  const parent = keys.reduce<unknown>(member, document)
  if (!isJSONObject(parent) || last === undefined || (kind !== 'add' && kind !== 'remove')) {
    throw new Error('The webhook answered with a patch that cannot be applied.')
  }
  if (kind === 'add') parent[last] = member(operation, 'value')
  else Reflect.deleteProperty(parent, last)
}

function isJSONObject(value: unknown): value is JSONObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

// RFC 6901, section 4: `~1` first.
function unescape(part: string): string {
  return part.replaceAll('~1', '/').replaceAll('~0', '~')
}
