import type { ErrorMeaning } from './error-meaning.ts'

const REDIRECT = redirected('another address')

/**
 * What a redirect of a Git server means: nothing is sent to the address to which it leads. `address` is that of the
 * repository there, if it is known.
 */
export function redirectMeaning(address: string | undefined): ErrorMeaning {
  return address === undefined ? REDIRECT : redirected(address)
}

/** What an HTTP status of a Git server means. */
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
      'knows the user but does not permit this (403); give the token write access, and check whether the repository is archived.',
  },
  404: {
    reason: 'RepositoryNotFound',
    sentence:
      'does not exist, or is not visible with these credentials (hosts give the same answer for both); check the address and the rights of the token.',
  },
  408: unavailable(408),
  410: { reason: 'RepositoryNotFound', sentence: 'does not exist any more (410); check the address.' },
  413: {
    reason: 'PushRejected',
    sentence:
      'refuses the commit as too large (413); make the object smaller, or ask the administrator of the server.',
  },
  429: { reason: 'RateLimited', sentence: 'asks for fewer requests; Commitlet retries later.' },
}

function redirected(to: string): ErrorMeaning {
  return {
    reason: 'RepositoryNotFound',
    sentence: `is redirected to ${to}, to which Commitlet does not send credentials; put the new address into spec.repository.`,
  }
}

function unavailable(status: number): ErrorMeaning {
  return {
    reason: 'ProviderUnavailable',
    sentence: `cannot answer at the moment (${status}); Commitlet retries automatically.`,
  }
}

/** Gateways answer so to whom they have banned for a while, whatever was asked. */
function refused(status: number): ErrorMeaning {
  return {
    reason: 'PushRejected',
    retry: 'slow',
    sentence: `refuses Git's request (${status}); check the address, or ask the administrator of the server.`,
  }
}
