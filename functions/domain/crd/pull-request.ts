import { branchSchema, REMOTE_PROPERTIES, REMOTE_VALIDATIONS, REPOSITORY_SCHEMA } from './remote.ts'
import type { Schema } from './schema.ts'

function immutable(schema: Schema, field: string): Schema {
  const validation = {
    rule: 'self == oldSelf',
    message: `${field} cannot be changed: make another PullRequest.`,
  }
  const others = schema['x-kubernetes-validations'] ?? []
  return { ...schema, 'x-kubernetes-validations': [...others, validation] }
}

function names(description: string, item: Schema): Schema {
  return {
    type: 'array',
    description,
    expects: 'a list of strings, none of them twice',
    maxItems: 50,
    'x-kubernetes-list-type': 'set',
    items: item,
  }
}

const LABEL: Schema = {
  type: 'string',
  description: 'The name of a label.',
  expects: 'the name of a label',
  minLength: 1,
  maxLength: 255,
  pattern: '^[^\\x00-\\x1f\\x7f]+$',
}

const USER: Schema = {
  type: 'string',
  description: 'A user name at the provider; on Bitbucket a UUID in braces or an account ID.',
  expects: 'a user name at the provider',
  minLength: 1,
  maxLength: 255,
  pattern: '^[^\\s\\x00-\\x1f\\x7f]+$',
}

/** `spec` of a PullRequest. */
export const PULLREQUEST_SPEC: Schema = {
  type: 'object',
  description: 'The branches of the pull request, its text, and how to log in to the provider.',
  required: ['repository', 'baseBranch', 'headBranch', 'title'],
  'x-kubernetes-validations': REMOTE_VALIDATIONS,
  properties: {
    ...REMOTE_PROPERTIES,
    repository: immutable(REPOSITORY_SCHEMA, 'repository'),
    baseBranch: immutable(
      branchSchema('The branch that the changes go to. It cannot be changed later. Example: main'),
      'baseBranch',
    ),
    headBranch: immutable(
      branchSchema(
        'The branch that contains the changes. Write the branch of a fork as owner:branch (GitHub only). It ' +
          'cannot be changed later. Example: new-settings',
        'owner',
      ),
      'headBranch',
    ),
    title: {
      type: 'string',
      description:
        'The title of the pull request, one line of at most 255 characters. Example: New settings of the shop',
      expects: 'one line of text that is not blank',
      minLength: 1,
      maxLength: 255,
      pattern: '^[^\\x00-\\x1f\\x7f]*[^\\x00-\\x20\\x7f][^\\x00-\\x1f\\x7f]*$',
    },
    body: {
      type: 'string',
      description:
        'The description of the pull request, in the Markdown of the provider, at most 60,000 characters. ' +
        'Example: "Closes #12."',
      expects: 'a text in Markdown',
      maxLength: 60_000,
      pattern: '^[^\\x00]*$',
    },
    draft: {
      type: 'boolean',
      description:
        'Whether to open the pull request as a draft. The field has no effect later. Example: true',
    },
    labels: names('Labels to add to the pull request; not on Bitbucket. Example: [settings]', LABEL),
    reviewers: names(
      'User names of the reviewers, no teams; on Bitbucket UUIDs in braces or account IDs. ' +
        'Example: [dev]',
      USER,
    ),
    assignees: names('User names of the assignees; not on Bitbucket. Example: [dev]', USER),
  },
}
