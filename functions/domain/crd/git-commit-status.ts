import type { Schema } from './schema.ts'
import { statusSchema, text, time } from './status.ts'

const COMMIT: Schema = {
  type: 'object',
  description: 'The commit that contains the content.',
  required: ['sha', 'shortSHA', 'branch', 'path'],
  properties: {
    sha: { ...text('The full object name of the commit.', 64), pattern: '^[0-9a-f]{40,64}$' },
    shortSHA: { ...text('The first 12 digits of sha.', 12), pattern: '^[0-9a-f]{12}$' },
    branch: text('The branch of the commit.', 1024),
    path: text('The path of the file, or of the first one.', 1024),
    url: text('The web address of the commit, if the provider is known.', 8192),
  },
}

const LATE_PUSH: Schema = {
  type: 'boolean',
  description:
    'Whether the Git server may still carry out a push of an earlier attempt, whose answer was lost. Where the branch holds the content already, Commitlet then makes an empty commit, so that the old push fails.',
}

const NOTHING_PUSHED_TIME = time(
  'The lastAttemptTime of an attempt, where neither it nor one before it at this request has sent a push that the Git server has looked at. The next attempt then does not search the history of the branch for their commit.',
)

const DIGEST = { maxLength: 16, pattern: '^[0-9a-f]{16}$' } as const

const LATE_PUSH_TO: Schema = {
  type: 'array',
  description:
    'The repositories and branches at which the Git server may still carry out a push of an earlier attempt, and at which none has landed since. A GitCommit that comes back to one of them makes an empty commit there, too.',
  maxItems: 8,
  items: {
    type: 'string',
    description: 'A repository and branch: a digest, which only Commitlet understands.',
    ...DIGEST,
  },
}

const SYNC: Schema = {
  type: 'object',
  description: 'With sync: OnChange, what was seen of the objects that the spec refers to.',
  required: ['commits'],
  properties: {
    seenTime: time('When the objects were read whose content is on the branch.'),
    commits: {
      type: 'integer',
      description: 'The number of commits so far.',
      format: 'int64',
      minimum: 0,
    },
    digest: {
      type: 'string',
      description: 'A digest of the versions of the objects whose content is on the branch.',
      ...DIGEST,
    },
    committing: {
      type: 'string',
      description: 'A digest of the versions of the objects that are being committed.',
      ...DIGEST,
    },
  },
}

/** `status` of a GitCommit. */
export const GITCOMMIT_STATUS: Schema = statusSchema({
  commit: COMMIT,
  nothingPushedTime: NOTHING_PUSHED_TIME,
  latePush: LATE_PUSH,
  latePushTo: LATE_PUSH_TO,
  sync: SYNC,
})
