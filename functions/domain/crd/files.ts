import { reference } from './reference.ts'
import type { Schema } from './schema.ts'
import { SET } from './set.ts'

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
