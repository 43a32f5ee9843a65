import { branchSchema } from './branch.ts'
import { REMOTE_PROPERTIES, REMOTE_VALIDATIONS } from './remote.ts'
import type { Schema } from './schema.ts'

const MESSAGE: Schema = {
  type: 'string',
  description:
    'The commit message. Its first line is what "git log --oneline" shows. Commitlet adds trailers that name ' +
    'this resource, so no line of yours can begin with "Commitlet-" or "Requested-by:". ' +
    'Example: "chore: new settings of the shop"',
  expects: 'a commit message that is not blank and has no NUL characters',
  minLength: 1,
  maxLength: 65_536,
  pattern: '^\\s*[^\\x00\\s][^\\x00]*$',
  'x-kubernetes-validations': [
    {
      rule: "!self.matches(r'(?i)(^|[\\n\\r])\\s*(commitlet-|requested-by\\s*:)')",
      message:
        'No line of the message can begin with "Commitlet-" or "Requested-by:": Commitlet writes these.',
    },
    {
      rule: "!self.contains('------------------------ >8 ------------------------')",
      message: 'The message cannot hold a scissors line ("---- >8 ----"): Git ends a message there.',
    },
  ],
}

const PATH: Schema = {
  type: 'string',
  description:
    'Where the file is written, from the top of the repository, with "/" between the parts. A path that ends in ' +
    '.json gets JSON, every other one YAML. Example: clusters/prod/shop-settings.yaml',
  expects: 'a path from the top of the repository, such as clusters/prod/settings.yaml',
  minLength: 1,
  maxLength: 1024,
  pattern: '^[^\\\\\\x00-\\x1f\\x7f]+$',
  'x-kubernetes-validations': [
    {
      rule: "!self.matches(r'(^|/)[. ]*(/|$)')",
      message: 'The path has to be relative, without an empty part and without one of dots and spaces alone.',
    },
    {
      rule: "!self.matches(r'(?i)(^|/)([.]git|git~[0-9]+)[. ]*(:|/|$)')",
      message: 'The path cannot have a part that some system takes for ".git".',
    },
  ],
}

const RESOURCE_REF: Schema = {
  type: 'object',
  description:
    'The object of the cluster whose content is committed, and the file it is written to. It is read when the ' +
    'commit is made. Example: {apiVersion: v1, kind: ConfigMap, name: shop-settings, path: prod/settings.yaml}',
  expects: 'an object with apiVersion, kind, name and path',
  required: ['apiVersion', 'kind', 'name', 'path'],
  'x-kubernetes-map-type': 'atomic',
  'x-kubernetes-validations': [
    {
      rule: "!(self.apiVersion == 'v1' && self.kind == 'Secret')",
      message: 'A Secret is never committed in clear: refer to another kind, such as a SealedSecret.',
    },
  ],
  properties: {
    apiVersion: {
      type: 'string',
      description:
        'The API version of the object, as in its own manifest: group and version, or the version alone for the ' +
        'core group. Example: apps/v1',
      expects: 'an API version, such as v1 or apps/v1',
      minLength: 1,
      maxLength: 317,
      pattern: '^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[a-z0-9]([a-z0-9-]*[a-z0-9])?$',
    },
    kind: {
      type: 'string',
      description: 'The kind of the object, as in its own manifest. Example: Deployment',
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
        'The namespace of the object; the namespace of this resource where it is left out. Kinds without ' +
        'namespaces, such as ClusterRole, have none. Example: shop',
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
  description: 'What is committed, where to, and how to log in there.',
  required: ['repository', 'message', 'resourceRef'],
  'x-kubernetes-validations': REMOTE_VALIDATIONS,
  properties: {
    ...REMOTE_PROPERTIES,
    branch: branchSchema(
      "The branch that gets the commit; the repository's default branch where it is left out. A branch that is " +
        'not there yet is made from the default branch. Example: main',
    ),
    message: MESSAGE,
    resourceRef: RESOURCE_REF,
  },
}
