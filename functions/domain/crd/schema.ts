/** A CEL rule that the API server enforces, and its message for users (apiextensions.k8s.io/v1). */
export interface Validation {
  readonly rule: string
  readonly message: string
}

/**
 * The part of OpenAPI v3 that a structural schema of a CRD may use, and that ajv reads as JSON Schema.
 * Every string, list and number has bounds, so that no CEL rule can cost more than its budget.
 */
export interface Schema {
  /** Left out: any JSON, with `x-kubernetes-preserve-unknown-fields`. */
  readonly type?: 'object' | 'array' | 'string' | 'integer' | 'boolean'
  /** What `kubectl explain` prints. */
  readonly description: string
  /** Completes "spec.x has to be …". It is for Commitlet's own messages and not part of the CRD. */
  readonly expects?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minItems?: number
  readonly maxItems?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly pattern?: string
  readonly enum?: readonly string[]
  readonly format?: 'date-time' | 'int32' | 'int64'
  readonly default?: unknown
  /** Exactly one of these fields is required: `oneOf` in the CRD, because CEL does not see fields of any type. */
  readonly oneRequired?: readonly string[]
  readonly 'x-kubernetes-preserve-unknown-fields'?: true
  readonly 'x-kubernetes-map-type'?: 'atomic'
  readonly 'x-kubernetes-list-type'?: 'set' | 'map' | 'atomic'
  readonly 'x-kubernetes-list-map-keys'?: readonly string[]
  readonly 'x-kubernetes-validations'?: readonly Validation[]
}

/** What messages call the values of a type. */
export const TYPE_NAMES = {
  object: 'an object',
  array: 'a list',
  string: 'a string',
  integer: 'a whole number',
  boolean: 'true or false',
} as const satisfies Record<NonNullable<Schema['type']>, string>
