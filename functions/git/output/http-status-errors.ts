import type { ErrorMeaning } from './error-table.ts'

const REDIRECT = {
  reason: 'RepositoryNotFound',
  sentence:
    'is redirected to another address, where credentials do not follow; put the new address into spec.repository.',
} as const

/** What an HTTP status means to Git. */
export function statusMeaning(status: number): ErrorMeaning {
  return STATUSES[status] ?? (status >= 500 ? unavailable(status) : refused(status))
}

const STATUSES: Readonly<Record<number, ErrorMeaning>> & Readonly<Record<401 | 404 | 429, ErrorMeaning>> = {
  301: REDIRECT,
  302: REDIRECT,
  303: REDIRECT,
  307: REDIRECT,
  308: REDIRECT,
  401: {
    reason: 'AuthenticationFailed',
    sentence: 'does not accept the user name and token or password (401); put valid ones into the Secret.',
  },
  403: {
    reason: 'PermissionDenied',
    sentence:
      'knows the user but does not permit this (403); give the token the right to write there, and see whether the repository is archived.',
  },
  404: {
    reason: 'RepositoryNotFound',
    sentence:
      'is not there, or not visible with these credentials, as hosts answer both alike; look at the address and at the rights of the token.',
  },
  408: unavailable(408),
  410: { reason: 'RepositoryNotFound', sentence: 'is gone (410); look at the address.' },
  413: {
    reason: 'PushRejected',
    sentence:
      'refuses the commit as too large (413); make the object smaller, or ask whoever runs the server.',
  },
  429: { reason: 'RateLimited', sentence: 'asks for fewer requests; it is tried again later.' },
}

function unavailable(status: number): ErrorMeaning {
  return {
    reason: 'ProviderUnavailable',
    sentence: `cannot answer at the moment (${status}); it is tried again.`,
  }
}

function refused(status: number): ErrorMeaning {
  return {
    reason: 'PushRejected',
    sentence: `refuses Git's request (${status}); look at the address, or ask whoever runs the server.`,
  }
}
