import { branchSchema } from './branch.ts'
import { REMOTE_PROPERTIES, REMOTE_VALIDATIONS } from './remote.ts'
import type { Schema } from './schema.ts'

const MESSAGE: Schema = {
  type: 'string',
  description:
    'The commit message. "git log --oneline" shows its first line. Commitlet adds trailers that name this ' +
    'resource, so no line of the message can begin with "Commitlet-" or "Requested-by:". ' +
    'Example: "chore: new settings of the shop"',
  expects: 'a commit message that is not blank and has no NUL characters',
  minLength: 1,
  maxLength: 65_536,
  pattern: '^\\s*[^\\x00\\s][^\\x00]*$',
  'x-kubernetes-validations': [
    {
      rule: "!self.matches(r'(?i)(^|[\\n\\r])\\s*(commitlet-|requested-by\\s*:)')",
      message:
        'No line of the message can begin with "Commitlet-" or "Requested-by:": Commitlet adds these trailers.',
    },
    {
      rule: "!self.contains('------------------------ >8 ------------------------')",
      message: 'The message cannot contain a scissors line ("---- >8 ----"): Git ends a message there.',
    },
  ],
}

const PATH: Schema = {
  type: 'string',
  description:
    'The path of the file, relative to the top of the repository, with "/" as the separator. If it ends in ' +
    '.json, the content is JSON, otherwise YAML. Example: clusters/prod/shop-settings.yaml',
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

const RESOURCE_REF: Schema = {
  type: 'object',
  description:
    'The cluster object whose content is committed, and the path of the file. The object is read when the ' +
    'commit is made. Example: {apiVersion: v1, kind: ConfigMap, name: shop-settings, path: prod/settings.yaml}',
  expects: 'an object with apiVersion, kind, name and path',
  required: ['apiVersion', 'kind', 'name', 'path'],
  'x-kubernetes-map-type': 'atomic',
  'x-kubernetes-validations': [
    {
      rule: "!(self.apiVersion == 'v1' && self.kind == 'Secret')",
      message: 'A Secret is never committed in clear text: refer to another kind, such as a SealedSecret.',
    },
  ],
  properties: {
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
    path: PATH,
  },
}

/** `spec` of a GitCommit. */
export const GITCOMMIT_SPEC: Schema = {
  type: 'object',
  description: 'What to commit, where to commit it, and how to log in there.',
  required: ['repository', 'message', 'resourceRef'],
  'x-kubernetes-validations': REMOTE_VALIDATIONS,
  properties: {
    ...REMOTE_PROPERTIES,
    branch: branchSchema(
      "The branch to commit to. Defaults to the repository's default branch. If the branch does not exist, it is " +
        'created from the default branch. Example: main',
    ),
    message: MESSAGE,
    resourceRef: RESOURCE_REF,
  },
}
