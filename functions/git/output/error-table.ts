import type { FailureReason } from '../../domain/reasons.ts'

/** Where git was called, for the sentence, and what must not be in it. */
export interface ErrorContext {
  /** The repository's address. */
  readonly url: string
  readonly secrets: readonly string[]
  /** Whether it was called by way of HTTPS_PROXY. */
  readonly proxied?: boolean
  readonly deadlineSeconds: number
  readonly fetchLimitMiB: number
}

/** A reason and its sentence. */
export interface ErrorMeaning {
  readonly reason: FailureReason
  /** The rest of the sentence, after the repository's address. */
  readonly sentence: string | ((context: ErrorContext) => string)
}

/** One way to fail, told from a line of git. */
export interface ErrorRow extends ErrorMeaning {
  readonly pattern: RegExp
}

/** Says of an address that it is no Git server at all; after the address, as in an ErrorMeaning. */
export const NOT_GIT =
  'does not answer as a Git repository does; look at the address, and whether a browser gets a log-in page there.'
const LIMIT = ({ fetchLimitMiB }: ErrorContext) =>
  `is larger than Commitlet may take: one attempt fetches more than ${fetchLimitMiB} MiB; the operator may raise FETCH_LIMIT.`

/** Lines of git itself that have nothing to do with HTTP statuses; the first that matches counts. */
export const ROWS: readonly ErrorRow[] = [
  {
    pattern: /dst refspec \S* matches more than one/,
    reason: 'PushRejected',
    sentence:
      'has a second branch whose name is the full name of this one (`refs/heads/…`), and Git cannot tell them apart; delete that one there.',
  },
  {
    pattern: /mismatched algorithms/,
    reason: 'NotSupported',
    sentence:
      'uses SHA-256 object names, which Commitlet does not support; use a repository with SHA-1 names.',
  },
  {
    // The launcher has git meet the limit as an error of writing (EFBIG); the signal is for a git that does not.
    pattern: /File too large|died of signal 25/,
    reason: 'NotSupported',
    sentence: LIMIT,
  },
  {
    // Git may take 256 MiB more than it may fetch, so that a large repository meets the other limit first. Alone,
    // the last of these says that index-pack was killed before it could say anything, as the kernel does it.
    pattern:
      /[Oo]ut of memory|Cannot allocate memory|memory exhausted|died of signal 9|^fatal: fetch-pack: invalid index-pack output$/,
    reason: 'Internal',
    sentence:
      'could not be served, because Git ran out of memory on this side; it is tried again, and the operator may give Commitlet more memory.',
  },
  {
    pattern: /dumb http transport|does not support (shallow|--shallow)/i,
    reason: 'NotSupported',
    sentence:
      'is served without the smart HTTP protocol or without shallow fetches, which Commitlet needs; ask whoever runs the server.',
  },
  {
    pattern:
      /no DAV locking support|git-http-push failed|not valid: is this a git repository|invalid server response|bad line length/,
    reason: 'RepositoryNotFound',
    sentence: NOT_GIT,
  },
  {
    pattern: /certificate subject name|no alternative certificate subject name|hostname mismatch/,
    reason: 'TLSUntrusted',
    sentence:
      'shows a certificate that was made for another name; use the name that the certificate holds, or have a new one made.',
  },
  {
    pattern: /certificate (has|is) expired|certificate is not yet valid/,
    reason: 'TLSUntrusted',
    sentence:
      'shows a certificate that has expired or is not valid yet; whoever runs the server has to renew it.',
  },
  {
    pattern:
      /certificate verification failed|SSL certificate problem|unable to get local issuer|self.signed certificate/,
    reason: 'TLSUntrusted',
    sentence:
      'shows a certificate that has expired or that no trusted authority has signed; have it renewed, or the operator adds its authority to CA_FILE.',
  },
  {
    pattern: /Operation too slow|timed out|Timeout was reached/i,
    reason: 'Timeout',
    sentence: 'stopped answering in the middle of the exchange; it is tried again.',
  },
  {
    pattern: /Could not resolve proxy/,
    reason: 'NetworkError',
    sentence:
      'cannot be reached: the proxy of HTTPS_PROXY is not known to DNS; it is tried again, and the operator has to fix that.',
  },
  {
    pattern: /(CONNECT tunnel failed, response|Received HTTP code) 407/,
    reason: 'NetworkError',
    sentence:
      'cannot be reached: the proxy of HTTPS_PROXY does not accept the user name and password that stand there (407); the operator has to fix them.',
  },
  {
    pattern: /(CONNECT tunnel failed, response|Received HTTP code) 403/,
    reason: 'AddressForbidden',
    sentence:
      'cannot be reached: the proxy of HTTPS_PROXY does not let Commitlet through to that host (403); ask the operator.',
  },
  {
    pattern: /CONNECT tunnel failed|Received HTTP code \d+ from proxy|Proxy CONNECT aborted/,
    reason: 'NetworkError',
    sentence:
      'cannot be reached: the proxy of HTTPS_PROXY gets no connection to that host and port; look at the address, it is tried again.',
  },
  {
    pattern: /Could not resolve host/,
    reason: 'NetworkError',
    sentence:
      'cannot be reached: its host name is not known to DNS; look for a typing error, or ask the operator.',
  },
  {
    pattern:
      /Failed to connect|Couldn't connect to server|Connection refused|No route to host|Network is unreachable/,
    reason: 'NetworkError',
    sentence: ({ proxied = false }) =>
      proxied
        ? 'cannot be reached: nothing takes the connection at the proxy of HTTPS_PROXY; it is tried again, and the operator should look.'
        : 'cannot be reached: nothing takes the connection at that host and port; look at the address, it is tried again.',
  },
  {
    pattern: /gnutls_handshake|GnuTLS|SSL_(connect|read|write|ERROR)|OpenSSL|TLS connect error/,
    reason: 'NetworkError',
    sentence: 'broke the TLS connection off; it is tried again.',
  },
  {
    pattern: /fsck error|fsck failed/,
    reason: 'NotSupported',
    sentence:
      'holds a broken object at the tip of the branch, so that nothing can be built on it; run `git fsck` there and fix it.',
  },
  {
    pattern:
      /early EOF|unexpected disconnect|hung up|Recv failure|Send failure|Connection reset|Empty reply|bad pack header|transfer closed|RPC failed; curl|expected flush|invalid index-pack output|unable to access/,
    reason: 'NetworkError',
    sentence: 'broke the connection off in the middle of the exchange; it is tried again.',
  },
]

/** What hosts say through Git when a part of themselves is down: GitHub, GitLab, Gitea and Forgejo, in order. */
export const OUTAGE: ErrorRow = {
  pattern:
    /^Internal Server Error$|fatal error in commit_refs|GitLab: (5\d\d\b(?! [a-z])|Internal API (unreachable|error \(5\d\d\))|API is not accessible)|(Gitea|Forgejo): Internal Server Error/m,
  reason: 'ProviderUnavailable',
  sentence: 'has a failure of its own and cannot take the commit at the moment; it is tried again.',
}
