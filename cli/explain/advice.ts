import type { FailureReason } from '../../functions/domain/reasons.ts'

/** What a person does about a reason: the table of docs/troubleshooting.md, which a test compares. */
export const ADVICE: Readonly<Record<FailureReason, string>> = {
  InvalidSpec: 'fix the field that the message names',
  NotSupported: 'this release does not support it yet; the message names it',
  ReferenceNotFound: 'create the object, its field or the Secret, or fix its name',
  ReferenceForbidden:
    'the message says who lacks which right on what; grant it, fix the annotations of the Secret, or name something that you may use, then request another attempt',
  AddressForbidden:
    "the operator does not allow this repository (`ALLOWED_REPOSITORIES`), its host resolves to an address that Commitlet may not call, or the operator's proxy does not let it through: choose another repository, or ask your Commitlet operator",
  CredentialsInvalid:
    'fix the Secret: the message names the key, or the type. Without `spec.credentials`, there is no default or it cannot be read: name a Secret, or ask your Commitlet operator',
  AuthenticationFailed:
    'put a valid token, user name and password, or private key into the Secret; add the public half of the key on the host. The credentials may have expired or been revoked',
  PermissionDenied:
    'let the token, its user or the deploy key write to this repository, or open pull requests there; if the host names a scope, the message shows it',
  RepositoryNotFound:
    'fix the address, or give the token or key access: hosts give the same answer in both cases. If the repository was renamed or moved, the message has its new address as far as the host tells it: write that into `spec.repository`. It is not retried if the host has said so only when it took the push',
  HostKeyUnknown:
    'compare the host key with what the host publishes; then put its known_hosts line into the Secret, or ask the operator to add it to `SSH_KNOWN_HOSTS`',
  HostKeyMismatch:
    'compare the key with what the host publishes before you change any entry: someone may be intercepting the connection',
  TLSUntrusted:
    'the message says which applies: the operator adds the authority to `CA_FILE`, the server gets a new certificate, or you use the name in the certificate',
  PushRejected: 'read the message of the remote: a protected branch, a hook, a size limit',
  PullRequestRejected:
    'read the message of the host: its rules for pull requests, or a title or body that it does not accept',
  HeadNotFound: 'push the branch that the message names; a GitCommit to it may still be in progress',
  NothingToMerge: 'push a commit to the head branch that the base branch does not have',
  PathConflict:
    'the path is, or runs through, a symbolic link, a submodule, a file or a folder: choose another; or the file is not there, or does not have a form in which `set` can change the field: fix the file or the field, then request it again',
  Conflict:
    'other writers were faster many times in a row, or the host reports an open pull request but does not list it; or the pod has no memory left for Git at the moment',
  RateLimited: 'wait; if it persists, check the host',
  ProviderUnavailable: 'wait; if it persists, check the host',
  NetworkError: 'wait; if it persists, check the host',
  Timeout: 'wait; if it persists, check the host',
  RetryBudgetExhausted: 'the message contains the last cause; fix it and request another attempt',
  Internal: 'a bug: your Commitlet operator finds the details in the log',
}
