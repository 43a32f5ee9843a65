import type { Schema } from './schema.ts'

/** The schema as ajv reads it, with the contents of a text or a list looked at only where its length is allowed. */
export function boundedFirst(schema: Schema): object {
  const { items, pattern, properties, ...rest } = schema
  const inner = Object.entries(properties ?? {}).map(
    ([name, property]) => [name, boundedFirst(property)] as const,
  )
  const fields = properties === undefined ? {} : { properties: Object.fromEntries(inner) }
  // ajv goes on after a fault: a million entries would make a million faults, a pattern would read megabytes.
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

/** Has the text more characters (code points, as JSON Schema and the API server count) than the limit? */
export function isLonger(text: string, limit: number): boolean {
  if (text.length <= limit) return false
  return text.length > 2 * limit || Array.from(text).length > limit
}
