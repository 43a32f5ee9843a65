import type { Schema } from '../crd/schema.ts'

/** The schema for ajv: it checks the content of a string or a list only if the length is allowed. */
export function boundedFirst(schema: Schema): object {
  const { items, pattern, properties, ...rest } = schema
  const inner = Object.entries(properties ?? {}).map(
    ([name, property]) => [name, boundedFirst(property)] as const,
  )
  const fields = properties === undefined ? {} : { properties: Object.fromEntries(inner) }
  // ajv continues after an error: a million entries would give a million errors, a pattern would read megabytes.
  if (items !== undefined) {
    const uniqueItems = schema['x-kubernetes-list-type'] === 'set'
    return {
      ...rest,
      ...fields,
      if: { maxItems: schema.maxItems },
      then: { items: boundedFirst(items), uniqueItems },
    }
  }
  if (pattern === undefined) return { ...rest, ...fields }
  const { expects, minLength = 0, maxLength } = schema
  return { ...rest, ...fields, if: { minLength, maxLength }, then: { pattern, expects } }
}

/** Whether the text has more characters (code points, as JSON Schema and the API server count) than the limit. */
export function isLonger(text: string, limit: number): boolean {
  if (text.length <= limit) return false
  return text.length > 2 * limit || charactersIn(text) > limit
}

/** The number of characters of a text, as above. */
export function charactersIn(text: string): number {
  let pairs = 0
  for (let at = 0; at < text.length; at++) if ((text.codePointAt(at) ?? 0) > 0xffff) pairs += 1
  return text.length - pairs
}
