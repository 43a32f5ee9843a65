import { FIELD, reference } from './reference.ts'
import type { Schema } from './schema.ts'

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

/** `set` of a file of a GitCommit: the fields that are changed in the file that is there. */
export const SET: Schema = {
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
