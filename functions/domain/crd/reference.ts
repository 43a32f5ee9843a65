import type { Schema } from './schema.ts'

/** No reference names a Secret. */
export const NO_SECRET = {
  rule: "!(self.apiVersion == 'v1' && self.kind == 'Secret')",
  message: 'A Secret is never committed in clear text: refer to another kind, such as a SealedSecret.',
}

/** The fields that name an object of the cluster. */
export const REFERENCE: Readonly<Record<string, Schema>> = {
  apiVersion: {
    type: 'string',
    description:
      'The API version of the object, as in its manifest: group and version, or only the version for the core ' +
      'group. Example: apps/v1',
    expects: 'an API version, such as v1 or apps/v1',
    minLength: 1,
    maxLength: 317,
    pattern: '^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[a-z0-9]([a-z0-9-]*[a-z0-9])?$',
  },
  kind: {
    type: 'string',
    description: 'The kind of the object, as in its manifest. Example: Deployment',
    expects: 'a kind, such as Deployment',
    minLength: 1,
    maxLength: 63,
    pattern: '^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$',
  },
  name: {
    type: 'string',
    description: 'The name of the object. Example: shop-settings',
    expects: 'the name of an object: no "/", no "%", not "." or ".."',
    minLength: 1,
    maxLength: 253,
    // A path segment of the API, neither "." nor "..": https://kubernetes.io/docs/concepts/overview/working-with-objects/names/
    pattern: '^([.]{0,2}[^./%\\x00-\\x1f\\x7f][^/%\\x00-\\x1f\\x7f]*|[.]{3}[^/%\\x00-\\x1f\\x7f]*)$',
  },
  namespace: {
    type: 'string',
    description:
      'The namespace of the object. Defaults to the namespace of this resource. Leave it out for cluster-scoped ' +
      'kinds such as ClusterRole. Example: shop',
    expects: 'the name of a namespace',
    minLength: 1,
    maxLength: 63,
    pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
  },
}

/** The path of a field of an object or of a file. */
export const FIELD: Schema = {
  type: 'string',
  description:
    'The path of a field, as in JSONPath of kubectl or in jq: names, ["names"], [0] and [?(@.name=="app")]. ' +
    'Example: .data["values.yaml"]',
  expects: 'the path of a field, such as .data["values.yaml"]',
  minLength: 1,
  maxLength: 1024,
  pattern: '^[^\\x00-\\x1f\\x7f]+$',
}

/** A reference to an object of the cluster, of whose fields these are required; it may name one field of the object. */
export function reference(description: string, required: readonly string[]): Schema {
  return {
    type: 'object',
    description,
    expects: `an object with ${required.slice(0, -1).join(', ')} and ${required.at(-1) ?? ''}`,
    required,
    'x-kubernetes-map-type': 'atomic',
    'x-kubernetes-validations': [NO_SECRET],
    properties: { ...REFERENCE, field: FIELD },
  }
}
