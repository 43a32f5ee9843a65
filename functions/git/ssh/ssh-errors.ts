import { Failure } from '../../domain/failure.ts'
import { BROKEN_PIPE, type Ended } from '../process/launcher.ts'
import { NOTHING_NEWER } from '../output/error-meaning.ts'
import type { ErrorRow, ErrorMeaning, ErrorContext } from '../output/error-meaning.ts'
import { OUTAGE } from '../output/error-table.ts'
import type { ServerReport } from './tunnel.ts'
import { classify, failureOf, unknownError } from '../output/classify.ts'
import type { Doing, Meaning } from '../output/classify.ts'

/** What git prints when its connection is closed: it cannot know why. */
const CONNECTION_CLOSED =
  /Could not read from remote repository|hung up|early EOF|unable to connect|(read|write) error|unexpected disconnect|Connection reset|Broken pipe|bad line length|protocol error|expected flush/
/** What git prints when its connection is closed before the first line of the server (connect.c). */
const CLOSED_BEFORE_START = /Could not read from remote repository/

const NO_GIT: ErrorMeaning = {
  reason: 'NotSupported',
  // Such as while a package is replaced on the server.
  retry: 'slow',
  sentence:
    'has a user who cannot run Git on the server; name the user that the host expects (usually git) in spec.repository, or have Git installed there.',
}
const OTHER_OUTPUT: ErrorMeaning = {
  reason: 'RepositoryNotFound',
  sentence:
    'answers with something other than Git; check that the user may run Git there, and that the login prints nothing.',
}
const NO_REASON: ErrorMeaning = {
  reason: 'NetworkError',
  sentence: 'ended the exchange before it had begun and gave no reason; Commitlet retries automatically.',
}

/**
 * What servers print before Git's protocol begins: GitHub, GitLab, Bitbucket, Gitea and Forgejo, Git's own programs,
 * git-shell, common shells. The first match counts.
 */
const ROWS: readonly ErrorRow[] = [
  {
    pattern: /rate limit|too many (requests|connections|concurrent|sessions|times)/i,
    reason: 'RateLimited',
    sentence: 'asks for fewer requests; Commitlet retries later.',
  },
  OUTAGE,
  {
    pattern: /SAML SSO|single sign-on|IP allow ?list/i,
    reason: 'PermissionDenied',
    sentence:
      'knows the key but the organization does not admit it; authorise the key for its single sign-on there, or have the address of Commitlet added to its IP allow list.',
  },
  {
    pattern: /archived/i,
    reason: 'PermissionDenied',
    sentence: 'is archived and accepts no commits; use another repository, or have it unarchived.',
  },
  {
    pattern:
      /read[- ]only|not have write access|not (allowed|authorized|permitted) to (push|write|upload)|Permission to .{1,300} denied|write access/i,
    reason: 'PermissionDenied',
    sentence: 'knows the key but does not permit it to write; give the user or the deploy key write access.',
  },
  {
    pattern:
      /(key|password) (has )?expired|password change required|(account|user) .{0,300}(blocked|deactivated|suspended|disabled|locked|expired)/i,
    reason: 'AuthenticationFailed',
    sentence:
      'knows the key, but the key or its account is no longer valid; put a valid key into the Secret.',
  },
  {
    pattern:
      /repository not found|not appear to be a git repository|could not be found|cannot find repository|does not exist|no such (project|repository)|no repository/i,
    reason: 'RepositoryNotFound',
    sentence:
      'does not exist, or is not visible with this key (hosts give the same answer for both); check the address and the rights of the key.',
  },
  {
    pattern: /access denied|forbidden|unauthorized|not (allowed|authorized|permitted)|permission denied/i,
    reason: 'PermissionDenied',
    sentence:
      'knows the key but does not permit access; give the user or the deploy key access to the repository.',
  },
  {
    pattern: /dubious ownership|unsafe repository/,
    reason: 'PermissionDenied',
    sentence:
      'belongs to another user of the server, so Git refuses to serve it; the administrator of the server has to fix its owner or safe.directory.',
  },
  {
    // The message of nologin(8).
    pattern: /account is (currently )?not available/i,
    ...NO_GIT,
  },
  {
    pattern:
      /(temporarily|currently|service) (un|not )available|not available at this time|internal (server )?error|Resource temporarily|connection refused/i,
    reason: 'ProviderUnavailable',
    sentence: 'cannot serve Git at the moment; Commitlet retries automatically.',
  },
  {
    pattern:
      /command not found|: not found$|unrecognized command|unknown command|git shell is not enabled|only (allows|supports)|sftp/im,
    ...NO_GIT,
  },
]
/** Characters of the server's words that are read. */
const READ = 16_384
/** Exit status of shells for a missing program. */
const NOT_FOUND_STATUS = 127

/** A git that has failed, and what the server reported about it. */
export interface FailedCall extends ServerReport {
  readonly doing: Doing
  /** It has sent nothing yet. Afterwards no words are a refusal: they say nothing of what became of it. */
  readonly undelivered: boolean
}

/**
 * What the failure of a git behind the tunnel means: by git's own message if it is specific, else by the failure of
 * the connection, else by what the server printed.
 */
export function explainSSH(ended: Ended, report: FailedCall, context: ErrorContext): Meaning {
  const doing = report.undelivered ? report.doing : 'reading'
  const meaning = classify(ended, doing, context)
  if (ended.exitCode === undefined || !isBreak(meaning, ended)) return meaning
  if (report.failure !== undefined) return report.failure
  const words = withoutRemote(report.words.slice(0, READ)).trim()
  // Over HTTPS, git itself reports it.
  if (NOTHING_NEWER.test(words)) return 'nothing newer'
  const own = withoutPath(words, context)
  const known = ROWS.find(({ pattern }) => pattern.test(own)) ?? fallbackMeaning(ended, report, words)
  if (known !== undefined) return failureOf(known, context)
  // A server that breaks down after it has got a push prints as well, and may have carried it out.
  const refused = CLOSED_BEFORE_START.test(ended.stderr) ? doing : 'reading'
  return words === '' ? meaning : unknownError(words, refused, context)
}

/** The words of a server without the `remote:` that some of them put before each line themselves. */
export function withoutRemote(words: string): string {
  return words.replace(/^(remote: ?)+/gm, '')
}

/** The words without the path of the repository, which may be `docs/archived`. A path of one part may be any word of theirs. */
function withoutPath(words: string, { url }: ErrorContext): string {
  const path = /^(?:ssh:\/\/[^/]*\/|[^/:]*:)(.*?)(?:\.git)?$/.exec(url)?.[1] ?? ''
  return path.includes('/') ? words.replaceAll(path, '') : words
}

// A limit of Commitlet also breaks the connection.
function isBreak(meaning: Meaning, { exitCode, stderr }: Ended): boolean {
  const isClosed = exitCode === BROKEN_PIPE || CONNECTION_CLOSED.test(stderr)
  return meaning instanceof Failure && meaning.reason !== 'NotSupported' && isClosed
}

function fallbackMeaning(
  { stderr }: Ended,
  { exitStatus, undelivered }: FailedCall,
  words: string,
): ErrorMeaning | undefined {
  if (exitStatus === NOT_FOUND_STATUS) return NO_GIT
  if (undelivered && /bad line length|protocol error/.test(stderr)) return OTHER_OUTPUT
  return words === '' && CLOSED_BEFORE_START.test(stderr) ? NO_REASON : undefined
}
