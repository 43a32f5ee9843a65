import { SIGNING } from './credentials.ts'
import { FILES, PATH } from './files.ts'
import { NO_SECRET, REFERENCE } from './reference.ts'
import { branchSchema, REMOTE_PROPERTIES, REMOTE_VALIDATIONS } from './remote.ts'
import type { Schema } from './schema.ts'

const MESSAGE: Schema = {
  type: 'string',
  description:
    'The commit message. "git log --oneline" shows its first line. Commitlet adds trailers that name this ' +
    'resource, so no line of the message can begin with "Commitlet-" or "Requested-by:". With files, {namespace} ' +
    'and {name} stand for those of this resource. ' +
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

const RESOURCE_REF: Schema = {
  type: 'object',
  description:
    'The cluster object whose content is committed, and the path of the file. The object is read when the ' +
    'commit is made. It is short for one entry of files. ' +
    'Example: {apiVersion: v1, kind: ConfigMap, name: shop-settings, path: prod/settings.yaml}',
  expects: 'an object with apiVersion, kind, name and path',
  required: ['apiVersion', 'kind', 'name', 'path'],
  'x-kubernetes-map-type': 'atomic',
  'x-kubernetes-validations': [NO_SECRET],
  properties: { ...REFERENCE, path: PATH },
}

const SYNC: Schema = {
  type: 'string',
  description:
    'Once: one commit for each request. OnChange: a commit whenever the objects that the spec refers to have ' +
    'changed, with the rights that the requester has then. Defaults to Once. Example: OnChange',
  expects: 'Once or OnChange',
  maxLength: 16,
  enum: ['Once', 'OnChange'],
}

const INTERVAL: Schema = {
  type: 'string',
  description:
    'With sync: OnChange, how often Commitlet looks for changes of which no event has told, from 1m to 24h. ' +
    'Defaults to 10m. Example: 1h30m',
  expects: 'a duration from 1m to 24h, such as 10m or 1h30m',
  minLength: 2,
  maxLength: 32,
  pattern: '^([0-9]+(\\.[0-9]+)?(ms|s|m|h))+$',
  'x-kubernetes-validations': [
    {
      rule: "duration(self) >= duration('1m') && duration(self) <= duration('24h')",
      message: 'Set a duration from 1m to 24h.',
    },
  ],
}

const COMMIT_VIA: Schema = {
  type: 'string',
  description:
    'Who makes the commit. Git: Commitlet does, and pushes it. API: GitHub does, and signs it, so that it is shown as ' +
    'verified; its author is the GitHub App, or the user of the token. Defaults to Git. Example: API',
  expects: 'Git or API',
  maxLength: 16,
  enum: ['Git', 'API'],
}

/** `spec` of a GitCommit. */
export const GITCOMMIT_SPEC: Schema = {
  type: 'object',
  description: 'What to commit, where to commit it, and how to log in there.',
  required: ['repository', 'message'],
  'x-kubernetes-validations': [
    ...REMOTE_VALIDATIONS,
    {
      rule: 'has(self.resourceRef) != has(self.files)',
      message: 'Set exactly one of resourceRef and files.',
    },
    {
      rule: "!has(self.interval) || (has(self.sync) && self.sync == 'OnChange')",
      message: 'Set interval only together with sync: OnChange.',
    },
    {
      rule: "!has(self.signing) || !has(self.commitVia) || self.commitVia == 'Git'",
      message: 'Set only one of signing and commitVia: API, with which the host signs.',
    },
  ],
  properties: {
    ...REMOTE_PROPERTIES,
    branch: branchSchema(
      "The branch to commit to. Defaults to the repository's default branch. If the branch does not exist, it is " +
        'created from the default branch. With files, {namespace} and {name} stand for those of this resource. Example: main',
    ),
    message: MESSAGE,
    resourceRef: RESOURCE_REF,
    files: FILES,
    sync: SYNC,
    interval: INTERVAL,
    signing: SIGNING,
    commitVia: COMMIT_VIA,
  },
}
