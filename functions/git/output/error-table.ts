import { OTHER_REF } from '../process/push-hook.ts'
import {
  type ErrorRow,
  NOT_GIT,
  FETCH_LIMIT_REACHED,
  TOO_MUCH_MEMORY,
  TOO_MUCH_WORK,
  BROKEN_OFF,
  BROKEN_TIP,
} from './error-meaning.ts'

/**
 * With the launcher, git gets a write error (EFBIG) at the limit; the signal is for a git that gets none. A trace that is too
 * long is no error.
 */
export const TOO_LARGE = /^(?!warning: unable to write trace ).*File too large|died of signal 25/m
/** What git prints at its memory limit, where the kernel refuses memory and kills nothing. */
export const OUT_OF_MEMORY = /[Oo]ut of memory|memory exhausted|cannot create async thread/
/** All that git prints where index-pack was killed before it could print anything. */
export const LOST_INDEX_PACK = /^fatal: fetch-pack: invalid index-pack output$/
/** What git prints where one of its processes has taken all of its time of the processor (signal 24 is SIGXCPU). */
export const OUT_OF_TIME = /died of signal 24/
/**
 * What git says of data that no server should send: connect.c, fetch-pack.c, pkt-line.c, remote-curl.c, send-pack.c and
 * sideband.c speak of the protocol, index-pack.c and the check that all objects have come of the pack.
 */
const PROTOCOL_BROKEN = new RegExp(
  [
    String.raw`^(?:fatal|error): (?:${[
      'protocol error: (?!bad pack header)',
      'git (?:fetch-pack|upload-pack|send-pack|receive-pack): ',
      String.raw`(?:remote-curl: |the )?(?:remote server sent )?unexpected (?:response end packet|acknowledgment|wanted-ref|flush|'|end of|packet)`,
      String.raw`expected (?!flush after ref listing)(?:'|ACK|NAK|shallow|wanted-ref|packfile|no other sections|response end|flush|sha|service)`,
      String.raw`invalid (?:packet|length read|shallow line|unshallow line|status line from remote|ls-refs response|server response; )`,
      String.raw`error processing (?:acks|wanted refs)`,
      String.raw`malformed response in ref list`,
      String.raw`unable to parse remote unpack status|invalid (?:unpack|report) status|remote reported status on unknown ref`,
      String.raw`unknown object format '[^']*' specified by server`,
      String.raw`(?:no|error in) (?:object|shallow)`,
      String.raw`repository on the other end cannot be shallow`,
      String.raw`remote did not send all necessary objects|could not fetch [0-9a-f]{40} from promisor remote`,
      String.raw`server doesn't support '|no matching remote head|no such remote ref`,
      String.raw`pack (?:signature mismatch|version|has (?:bad object|junk|\d+ unresolved delta)|is corrupted)`,
      String.raw`(?:serious )?inflate (?:returned|inconsistency)|invalid (?:blob|tree|commit|tag)|unknown object type|failed to apply delta`,
      String.raw`(?:delta base|offset value|bad delta|delta) |cannot unpack|used more bytes than were available|confusion`,
      String.raw`(?:bad|missing|corrupt|broken) (?:object|blob|tree|commit|link)|unable to parse (?:commit|tree|object)|not a (?:tree|commit) object`,
    ].join('|')})`,
    String.raw`^bad band #|protocol error: (?:no band designator|bad band)`,
  ].join('|'),
  'm',
)

/** Git cannot tell the branch from another ref, or takes that one for it. */
export const AMBIGUOUS: ErrorRow = {
  pattern: new RegExp(`dst refspec \\S* matches more than one|^${OTHER_REF}$`, 'm'),
  reason: 'PushRejected',
  retry: 'slow',
  sentence:
    'has a second branch or a tag whose name ends with the full name of this one (`refs/heads/…`), and Git takes one for the other; delete that branch or tag.',
}

/** Error lines of git without an HTTP status; the first match counts. */
export const ROWS: readonly ErrorRow[] = [
  AMBIGUOUS,
  {
    pattern: /mismatched algorithms|does not support this repository's hash algorithm/,
    reason: 'NotSupported',
    sentence:
      'uses SHA-256 object names, which Commitlet does not support; use a repository with SHA-1 names.',
  },
  { pattern: TOO_LARGE, ...FETCH_LIMIT_REACHED },
  { pattern: OUT_OF_TIME, ...TOO_MUCH_WORK },
  { pattern: OUT_OF_MEMORY, ...TOO_MUCH_MEMORY },
  {
    // The machine has no memory, or the kernel killed git.
    pattern: new RegExp(`Cannot allocate memory|died of signal 9|${LOST_INDEX_PACK.source}`),
    reason: 'Internal',
    sentence:
      'could not be used, because Git ran out of memory in Commitlet; Commitlet retries automatically, and your Commitlet operator may give it more memory.',
  },
  {
    pattern: /dumb http transport|does not support (shallow|--shallow)/i,
    reason: 'NotSupported',
    retry: 'slow',
    sentence:
      'is served without the smart HTTP protocol or without shallow fetches, which Commitlet needs; ask the administrator of the server.',
  },
  {
    pattern:
      /no DAV locking support|git-http-push failed|not valid: is this a git repository|invalid server response|bad line length/,
    reason: 'RepositoryNotFound',
    sentence: NOT_GIT,
  },
  {
    pattern: /certificate subject name|no alternative certificate subject name|hostname mismatch/,
    connecting: true,
    reason: 'TLSUntrusted',
    sentence:
      'shows a certificate that was issued for another name; use the name in the certificate, or have a new one issued.',
  },
  {
    pattern: /certificate (has|is) expired|certificate is not yet valid/,
    connecting: true,
    reason: 'TLSUntrusted',
    sentence:
      'shows a certificate that has expired or is not valid yet; the administrator of the server has to renew it.',
  },
  {
    pattern:
      /certificate verification failed|SSL certificate problem|unable to get local issuer|self.signed certificate/,
    connecting: true,
    reason: 'TLSUntrusted',
    sentence:
      'shows a certificate that has expired or that no trusted authority has signed; have it renewed, or ask your Commitlet operator to add its authority to CA_FILE.',
  },
  {
    pattern: /Operation too slow|timed out|Timeout was reached/i,
    reason: 'Timeout',
    sentence: 'stopped answering in the middle of the exchange; Commitlet retries automatically.',
  },
  {
    pattern: /Could not resolve proxy/,
    connecting: true,
    reason: 'NetworkError',
    sentence:
      'cannot be reached: the proxy of HTTPS_PROXY is not known to DNS; Commitlet retries automatically, and your Commitlet operator has to fix that.',
  },
  {
    pattern: /(CONNECT tunnel failed, response|Received HTTP code) 407/,
    connecting: true,
    reason: 'NetworkError',
    sentence:
      'cannot be reached: the proxy of HTTPS_PROXY does not accept the user name and password of that setting (407); your Commitlet operator has to fix them.',
  },
  {
    pattern: /(CONNECT tunnel failed, response|Received HTTP code) 403/,
    connecting: true,
    reason: 'AddressForbidden',
    sentence:
      'cannot be reached: the proxy of HTTPS_PROXY does not let Commitlet connect to that host (403); ask your Commitlet operator.',
  },
  {
    pattern: /CONNECT tunnel failed|Received HTTP code \d+ from proxy|Proxy CONNECT aborted/,
    connecting: true,
    reason: 'NetworkError',
    sentence:
      'cannot be reached: the proxy of HTTPS_PROXY cannot connect to that host and port; Commitlet retries automatically, but check the address.',
  },
  {
    pattern: /Could not resolve host/,
    connecting: true,
    reason: 'NetworkError',
    sentence:
      'cannot be reached: its host name is not known to DNS; check the spelling, or ask your Commitlet operator.',
  },
  {
    pattern:
      /Failed to connect|Couldn't connect to server|Connection refused|No route to host|Network is unreachable/,
    connecting: true,
    reason: 'NetworkError',
    sentence: ({ proxied = false }) =>
      proxied
        ? 'cannot be reached: nothing accepts the connection at the proxy of HTTPS_PROXY; Commitlet retries automatically, and your Commitlet operator should check it.'
        : 'cannot be reached: nothing accepts the connection at that host and port; Commitlet retries automatically, but check the address.',
  },
  {
    pattern: /gnutls_handshake|GnuTLS|SSL_(connect|read|write|ERROR)|OpenSSL|TLS connect error/,
    reason: 'NetworkError',
    sentence: 'broke off the TLS connection; Commitlet retries automatically.',
  },
  { pattern: /fsck error|fsck failed/, ...BROKEN_TIP },
  {
    pattern: PROTOCOL_BROKEN,
    reason: 'ProviderUnavailable',
    sentence:
      "has sent something that is not Git's protocol, or a broken pack; Commitlet retries automatically, but ask the administrator of the server if it stays so.",
  },
  {
    pattern:
      /early EOF|unexpected disconnect|hung up|Could not read from remote repository|Recv failure|Send failure|Connection reset|Empty reply|bad pack header|transfer closed|Broken pipe|RPC failed; curl|expected flush|invalid index-pack output|unable to access/,
    ...BROKEN_OFF,
  },
]

/**
 * What hosts print through Git when one of their services is down, or the repository is being moved: GitHub and Gerrit, GitLab, Gitea and
 * Forgejo, in this order.
 */
export const OUTAGE: ErrorRow = {
  pattern:
    /^(?:error: |ERROR: )?(?<own>[Ii]nternal (?:[Ss]erver )?[Ee]rror$|fatal error in commit_refs|GitLab: (?:5\d\d\b(?! [a-z])|Internal API (?:unreachable|error \(5\d\d\))|API is not accessible|The repository is temporarily read-only)|(?:Gitea|Forgejo): Internal Server (?:Connection )?Error)/m,
  reason: 'ProviderUnavailable',
  sentence:
    'has an internal error and cannot accept the commit at the moment; Commitlet retries automatically.',
}

/**
 * What they print where they have no more time to look at the commits, because they are busy or because these are many: Gerrit, GitLab,
 * and GitHub Enterprise Server of a hook of its own.
 */
export const TIMED_OUT: ErrorRow = {
  pattern:
    /^(?:error: |ERROR: )?(?:\S{1,200}: (?=execution exceeded ))?(?<own>timeout while processing changes$|GitLab: Push operation timed out|execution exceeded \d{1,4}s timeout$)/m,
  reason: 'ProviderUnavailable',
  sentence: 'took too long to look at the commit; Commitlet retries automatically.',
}
