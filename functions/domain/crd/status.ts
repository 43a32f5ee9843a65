import type { Schema } from './schema.ts'

/** A time in RFC 3339. */
export function time(description: string): Schema {
  return { type: 'string', description, format: 'date-time', maxLength: 64 }
}

/** A text of at most so many characters. */
export function text(description: string, maxLength: number): Schema {
  return { type: 'string', description, maxLength }
}

const GENERATION: Schema = {
  type: 'integer',
  description: 'The generation of the spec that this describes; -1 before the first attempt.',
  format: 'int64',
  minimum: -1,
}

const CONDITIONS: Schema = {
  type: 'array',
  description:
    'Ready, Reconciling and Stalled, for example for "kubectl wait --for=condition=Ready". A PullRequest with labels, reviewers or assignees also has DetailsApplied, which tells whether all were added.',
  maxItems: 8,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    description: 'One aspect of the state (metav1.Condition).',
    required: ['type', 'status', 'reason', 'message', 'observedGeneration', 'lastTransitionTime'],
    properties: {
      type: {
        type: 'string',
        description: 'The aspect that the condition describes.',
        maxLength: 64,
        enum: ['Ready', 'Reconciling', 'Stalled', 'DetailsApplied'],
      },
      status: {
        type: 'string',
        description: 'Whether the condition is met.',
        maxLength: 16,
        enum: ['True', 'False', 'Unknown'],
      },
      reason: text('The reason, in one word. Example: AuthenticationFailed', 1024),
      message: text('The reason, in one sentence: what was found, what was expected and what to do.', 32_768),
      observedGeneration: GENERATION,
      lastTransitionTime: time('When the status of the condition last changed.'),
    },
  },
}

const PULL_REQUEST: Schema = {
  type: 'object',
  description: 'The pull request at the provider.',
  required: ['number', 'url', 'state'],
  properties: {
    number: { type: 'integer', description: 'The number of the pull request.', format: 'int64', minimum: 1 },
    url: text('The web address of the pull request.', 8192),
    state: {
      type: 'string',
      description: 'The state of the pull request when it was last read.',
      maxLength: 16,
      enum: ['open', 'merged', 'closed'],
    },
  },
}

const COMMON: Readonly<Record<string, Schema>> = {
  observedGeneration: GENERATION,
  lastHandledGeneration: {
    ...GENERATION,
    description:
      'Only while a request waits because the resource is suspended: the generation that was handled last; -1 for none.',
  },
  // An annotation may be as large as all annotations together (256 KiB), and the status must still be accepted.
  lastHandledRequestedAt: text(
    'The last value of the annotation commitlet.dev/requested-at that was handled.',
    262_144,
  ),
  phase: {
    type: 'string',
    description: 'Pending, Progressing, Retrying, Succeeded, Failed or Suspended.',
    maxLength: 16,
    enum: ['Pending', 'Progressing', 'Retrying', 'Succeeded', 'Failed', 'Suspended'],
  },
  conditions: CONDITIONS,
  attempts: {
    type: 'integer',
    description: 'The number of attempts at this generation.',
    format: 'int32',
    minimum: 0,
  },
  startedAt: time(
    'When the first attempt at this generation, or at this value of requested-at, started. The latter has a random fraction of a second.',
  ),
  lastAttemptTime: time('When the last attempt started.'),
  nextAttemptTime: time('When the next attempt is due.'),
  lapses: {
    type: 'integer',
    description:
      'The attempts in a row before this one that ended without a result, for example because their process ended.',
    format: 'int32',
    minimum: 0,
  },
  waitingFor: {
    type: 'array',
    description:
      'What has to change before the next attempt: objects that are missing, or Secrets to be fixed. Commitlet looks at them and starts the next attempt earlier when they have changed.',
    maxItems: 3,
    items: {
      type: 'object',
      description: 'An object that the spec names.',
      required: ['field', 'version'],
      properties: {
        field: {
          type: 'string',
          description: 'The field of the spec that names it.',
          maxLength: 64,
          pattern:
            '^spec[.](credentials|fallbackCredentials|signing|(files\\[[0-9]+\\][.](set\\[[0-9]+\\][.]valueFrom[.])?)?resourceRef)$',
        },
        version: {
          ...text('Its version when it was last read: a digest, which only Commitlet understands.', 16),
          pattern: '^[0-9a-f]{16}$',
        },
      },
    },
  },
  credentialsUsed: {
    type: 'string',
    description: 'The credentials that were used: Primary, Fallback or Default.',
    maxLength: 16,
    enum: ['Primary', 'Fallback', 'Default'],
  },
}

/** The schema of a status with these fields of its kind besides. */
export function statusSchema(own: Readonly<Record<string, Schema>>): Schema {
  return {
    type: 'object',
    description: 'The observed state. Only Commitlet writes it.',
    required: ['observedGeneration', 'phase'],
    // No tool may take a new resource for done: kstatus waits while observedGeneration is behind generation.
    default: { observedGeneration: -1, phase: 'Pending' },
    properties: { ...COMMON, ...own },
  }
}

/** `status` of a PullRequest. */
export const PULLREQUEST_STATUS: Schema = statusSchema({ pullRequest: PULL_REQUEST })
