import type { Saying } from './sayings.ts'

const REDIRECT = {
  reason: 'RepositoryNotFound',
  says: 'is redirected to another address, where credentials do not follow; put the new address into spec.repository.',
} as const

/** What an HTTP status means to Git. */
export function sayingOf(status: number): Saying {
  return STATUSES[status] ?? (status >= 500 ? unavailable(status) : refused(status))
}

const STATUSES: Readonly<Record<number, Saying>> & Readonly<Record<401 | 404 | 429, Saying>> = {
  301: REDIRECT,
  302: REDIRECT,
  303: REDIRECT,
  307: REDIRECT,
  308: REDIRECT,
  401: {
    reason: 'AuthenticationFailed',
    says: 'does not accept the user name and token or password (401); put valid ones into the Secret.',
  },
  403: {
    reason: 'PermissionDenied',
    says: 'knows the user but does not permit this (403); give the token the right to write there, and see whether the repository is archived.',
  },
  404: {
    reason: 'RepositoryNotFound',
    says: 'is not there, or not visible with these credentials, as hosts answer both alike; look at the address and at the rights of the token.',
  },
  408: unavailable(408),
  410: { reason: 'RepositoryNotFound', says: 'is gone (410); look at the address.' },
  413: {
    reason: 'PushRejected',
    says: 'refuses the commit as too large (413); make the object smaller, or ask whoever runs the server.',
  },
  429: { reason: 'RateLimited', says: 'asks for fewer requests; it is tried again later.' },
}

function unavailable(status: number): Saying {
  return {
    reason: 'ProviderUnavailable',
    says: `cannot answer at the moment (${status}); it is tried again.`,
  }
}

function refused(status: number): Saying {
  return {
    reason: 'PushRejected',
    says: `refuses Git's request (${status}); look at the address, or ask whoever runs the server.`,
  }
}
