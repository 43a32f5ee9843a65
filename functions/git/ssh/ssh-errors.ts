import { Failure } from '../../domain/failure.ts'
import type { Ended } from '../process/launcher.ts'
import { redact } from '../../domain/redact.ts'
import type { ErrorRow, ErrorMeaning, ErrorContext } from '../output/error-table.ts'
import { OUTAGE } from '../output/error-table.ts'
import type { ServerReport } from './tunnel.ts'
import { classify, rejection, failureOf } from '../output/classify.ts'
import type { Meaning } from '../output/classify.ts'

/** What git says when the other end of its connection goes: it cannot know why. */
const BREAK =
  /Could not read from remote repository|hung up|early EOF|unable to connect|(read|write) error|unexpected disconnect|Connection reset|Broken pipe|bad line length|protocol error|expected flush/
/** What git says when the other end goes before its first line (connect.c). */
const UNBEGUN = /Could not read from remote repository/

const NO_GIT: ErrorMeaning = {
  reason: 'NotSupported',
  sentence:
    'has a user who cannot run Git on the server; name the user in spec.repository that the host wants (mostly git), or have Git installed there.',
}
const CHATTER: ErrorMeaning = {
  reason: 'RepositoryNotFound',
  sentence:
    'answers with something other than Git; see that the user may run Git there, and that nothing is printed at the log-in.',
}
const MUTE: ErrorMeaning = {
  reason: 'NetworkError',
  sentence: 'ended the exchange before it had begun and did not say why; it is tried again.',
}

/**
 * What servers write beside Git's protocol, before it has begun: GitHub, GitLab, Bitbucket, Gitea and Forgejo, Git's
 * own programs, git-shell, common shells. The first that matches counts.
 */
const ROWS: readonly ErrorRow[] = [
  {
    pattern: /rate limit|too many (requests|connections|concurrent|sessions|times)/i,
    reason: 'RateLimited',
    sentence: 'asks for fewer requests; it is tried again later.',
  },
  OUTAGE,
  {
    pattern: /SAML SSO|single sign-on|IP allow ?list/i,
    reason: 'PermissionDenied',
    sentence:
      'knows the key but the organization does not let it in; authorise the key for its single sign-on there, or have the address that Commitlet calls from put on its list.',
  },
  {
    pattern: /archived/i,
    reason: 'PermissionDenied',
    sentence: 'is archived and takes no commits; use another repository, or have it opened again.',
  },
  {
    pattern:
      /read[- ]only|not have write access|not (allowed|authorized|permitted) to (push|write|upload)|Permission to .* denied|write access/i,
    reason: 'PermissionDenied',
    sentence:
      'knows the key but does not permit it to write; give the user the right to write there, or let the deploy key write.',
  },
  {
    pattern:
      /(key|password) (has )?expired|password change required|(account|user) .*(blocked|deactivated|suspended|disabled|locked|expired)/i,
    reason: 'AuthenticationFailed',
    sentence:
      'knows the key but its account or the key itself is not valid any more; put a valid key into the Secret.',
  },
  {
    pattern:
      /repository not found|not appear to be a git repository|could not be found|cannot find repository|does not exist|no such (project|repository)|no repository/i,
    reason: 'RepositoryNotFound',
    sentence:
      'is not there, or not visible with this key, as hosts answer both alike; look at the address and at the rights of the key.',
  },
  {
    pattern: /access denied|forbidden|unauthorized|not (allowed|authorized|permitted)|permission denied/i,
    reason: 'PermissionDenied',
    sentence:
      'knows the key but does not let it in; give the user or the deploy key access to the repository.',
  },
  {
    pattern: /dubious ownership|unsafe repository/,
    reason: 'PermissionDenied',
    sentence:
      'belongs to another user of the server, so that Git refuses to serve it; whoever runs the server has to fix its owner or safe.directory.',
  },
  {
    // The sentence of nologin(8).
    pattern: /account is (currently )?not available/i,
    ...NO_GIT,
  },
  {
    pattern:
      /(temporarily|currently|service) (un|not )available|not available at this time|internal (server )?error|Resource temporarily|connection refused/i,
    reason: 'ProviderUnavailable',
    sentence: 'cannot serve Git at the moment; it is tried again.',
  },
  {
    pattern:
      /command not found|: not found$|unrecognized command|unknown command|git shell is not enabled|only (allows|supports)|sftp/im,
    ...NO_GIT,
  },
]
/** What shells answer where a program is missing. */
const NOT_FOUND_STATUS = 127

/**
 * What a git that failed behind the tunnel means: its own words where they say anything, else the connection's
 * end, else what the server wrote beside.
 */
export function explainSSH(ended: Ended, report: ServerReport, context: ErrorContext): Meaning {
  const meaning = classify(ended, context)
  if (ended.exitCode === undefined || !isBreak(meaning, ended)) return meaning
  if (report.failure !== undefined) return report.failure
  const words = report.words.replace(/^(remote: ?)+/gm, '').trim()
  const known = ROWS.find(({ pattern }) => pattern.test(words)) ?? fallbackMeaning(ended, report, words)
  if (known !== undefined) return failureOf(known, context)
  if (words === '') return meaning
  return report.service === 'git-upload-pack' && UNBEGUN.test(ended.stderr)
    ? unclear(words, context)
    : rejection(words, context)
}

// Nothing was asked for yet that could be refused for good in words that nobody knows.
function unclear(words: string, { url, secrets }: ErrorContext): Failure {
  const quoted = redact(words, secrets)
  const said = quoted === undefined ? ', in words that cannot be shown' : ` and says "${quoted}"`
  return new Failure('ProviderUnavailable', `${url} does not serve Git${said}; it is tried again.`)
}

// A limit of our own breaks the connection as well.
function isBreak(meaning: Meaning, { stderr }: Ended): boolean {
  return meaning instanceof Failure && meaning.reason !== 'NotSupported' && BREAK.test(stderr)
}

function fallbackMeaning(
  { stderr }: Ended,
  { exitStatus }: ServerReport,
  words: string,
): ErrorMeaning | undefined {
  if (exitStatus === NOT_FOUND_STATUS) return NO_GIT
  if (/bad line length|protocol error/.test(stderr)) return CHATTER
  return words === '' && UNBEGUN.test(stderr) ? MUTE : undefined
}
