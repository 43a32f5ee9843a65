/**
 * Fastify's option `schemaController` for routes without schemas: it then loads neither of its compilers of schemas, which
 * are half of what it loads at the start.
 */
export const NO_SCHEMAS = {
  compilersFactory: { buildValidator: refuse, buildSerializer: refuse },
} as const

function refuse(): never {
  throw new TypeError('A route has a schema, but its compilers are not loaded.')
}
