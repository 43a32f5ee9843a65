import type { Schema } from './schema.ts'

/** The path of a file. */
export const PATH: Schema = {
  type: 'string',
  description:
    'The path of the file, relative to the top of the repository, with "/" as the separator and at most 64 parts. If it ' +
    'ends in .json, the content is JSON, otherwise YAML. Example: clusters/prod/shop-settings.yaml',
  expects: 'a path from the top of the repository, such as clusters/prod/settings.yaml',
  minLength: 1,
  maxLength: 1024,
  pattern: '^[^\\\\\\x00-\\x1f\\x7f]+$',
  'x-kubernetes-validations': [
    {
      rule: "!self.matches(r'(^|/)[. ]*(/|$)')",
      message:
        'The path must be relative, without empty segments and segments that contain only dots and spaces.',
    },
    {
      rule: "!self.matches(r'(?i)(^|/)([.]git|git~[0-9]+)[. ]*(:|/|$)')",
      message: 'The path cannot have a segment that some file system takes for ".git".',
    },
  ],
}

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

const FIELD: Schema = {
  type: 'string',
  description:
    'The path of a field, as in JSONPath of kubectl or in jq: names, ["names"], [0] and [?(@.name=="app")]. ' +
    'Example: .data["values.yaml"]',
  expects: 'the path of a field, such as .data["values.yaml"]',
  minLength: 1,
  maxLength: 1024,
  pattern: '^[^\\x00-\\x1f\\x7f]+$',
}

function reference(description: string, required: readonly string[]): Schema {
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

const DOCUMENT: Schema = {
  type: 'object',
  description:
    'The document to change in a YAML file of several: its number, or the one that has a certain value at a field. ' +
    'Example: {field: .kind, value: Deployment}',
  expects: 'an object such as {index: 0} or {field: .kind, value: Deployment}',
  'x-kubernetes-map-type': 'atomic',
  'x-kubernetes-validations': [
    {
      rule: 'has(self.index) ? !has(self.field) && !has(self.value) : has(self.field) && has(self.value)',
      message: 'Set either index, or field and value.',
    },
  ],
  properties: {
    index: {
      type: 'integer',
      description: 'The number of the document, from 0.',
      expects: 'a whole number from 0',
      format: 'int32',
      minimum: 0,
      maximum: 10_000,
    },
    field: FIELD,
    value: {
      type: 'string',
      description: 'The value of the field in that document alone. Example: Deployment',
      maxLength: 1024,
    },
  },
}

const SET: Schema = {
  type: 'array',
  description:
    'Changes these fields of the YAML or JSON file that is there; comments, order and layout of the rest stay. ' +
    'Example: [{field: .image.tag, value: "1.27"}]',
  expects: 'a list such as [{field: .image.tag, value: "1.27"}]',
  minItems: 1,
  maxItems: 64,
  'x-kubernetes-list-type': 'atomic',
  items: {
    type: 'object',
    description: 'One field, and its new value.',
    expects: 'an object with field, and with value or valueFrom',
    required: ['field'],
    oneRequired: ['value', 'valueFrom'],
    properties: {
      field: FIELD,
      value: {
        description:
          'The new value: a string, a number, true, false, null, a list or an object. Example: "1.27"',
        'x-kubernetes-preserve-unknown-fields': true,
      },
      valueFrom: {
        type: 'object',
        description: 'Takes the new value from a field of a cluster object.',
        expects: 'an object with resourceRef',
        required: ['resourceRef'],
        properties: {
          resourceRef: reference(
            'The cluster object, and the field of it whose value is taken. ' +
              'Example: {apiVersion: v1, kind: ConfigMap, name: release, field: .data.tag}',
            ['apiVersion', 'kind', 'name', 'field'],
          ),
        },
      },
      mustExist: {
        type: 'boolean',
        description: 'Whether the field has to be there already. Otherwise it is added where its parent is.',
      },
      document: DOCUMENT,
    },
  },
}

/** `spec.files` of a GitCommit. */
export const FILES: Schema = {
  type: 'array',
  description:
    'The files of the commit: all of them are committed, or none. Each has a path and exactly one of resourceRef, ' +
    'content, remove and set. Example: [{path: prod/motd, content: Hello}]',
  expects: 'a list of files',
  minItems: 1,
  maxItems: 100,
  // As a map by path, metadata.managedFields would have every entry: 7 KB and 4 ms more for each write of the status.
  'x-kubernetes-list-type': 'atomic',
  items: {
    type: 'object',
    description: 'One file.',
    expects: 'an object with path, and with resourceRef, content, remove or set',
    required: ['path'],
    'x-kubernetes-validations': [
      {
        rule: '[has(self.resourceRef), has(self.content), has(self.remove), has(self.set)].filter(given, given).size() == 1',
        message: 'Set exactly one of resourceRef, content, remove and set.',
      },
      { rule: '!has(self.remove) || self.remove', message: 'remove can only be true.' },
    ],
    properties: {
      path: {
        ...PATH,
        description:
          'The path of the file, relative to the top of the repository, with "/" as the separator and at most 64 parts. ' +
          '{namespace}, {name} and {kind} stand for those of the object in resourceRef, otherwise of this resource. ' +
          'Example: clusters/{namespace}/{name}.yaml',
      },
      resourceRef: reference(
        'The cluster object whose content is committed, or one field of it. The object is read when the commit is ' +
          'made. If the path ends in .json, the content is JSON, otherwise YAML; a string is committed as it is. ' +
          'Example: {apiVersion: v1, kind: ConfigMap, name: shop-settings, field: ".data[\'values.yaml\']"}',
        ['apiVersion', 'kind', 'name'],
      ),
      content: {
        type: 'string',
        description:
          'The content of the file, as it is: at most 64 KiB, and 256 KiB for all contents and values together. Example: Hello',
        expects: 'a text of at most 64 KiB',
        maxLength: 65_536,
      },
      remove: {
        type: 'boolean',
        description: 'Removes the file. If it is not there, nothing is done.',
      },
      set: SET,
    },
  },
}
