import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { explainSSH } from '../../../functions/git/ssh/ssh-errors.ts'

const SCENE = {
  url: 'git@git.example.com:acme/shop.git',
  secrets: ['s3cr3t'],
  deadlineSeconds: 120,
  fetchLimitMiB: 64,
}
const CLOSED =
  'fatal: Could not read from remote repository.\n\nPlease make sure you have the correct access rights\nand the repository exists.\n'
const ENDED = { exitCode: 128, stdout: '', stderr: CLOSED, seconds: 1 }
const ACCOUNT = {
  doing: 'reading',
  undelivered: true,
  failure: undefined,
  words: '',
  exitStatus: 128,
} as const

/** Known messages of the hosts and programs. */
const WORDS: readonly (readonly [string, string])[] = [
  ['ERROR: Repository not found.\n', 'RepositoryNotFound'],
  ['ERROR: The key you are authenticating with has been marked as read only.\n', 'PermissionDenied'],
  ['ERROR: Permission to acme/shop.git denied to deploy key\n', 'PermissionDenied'],
  ['ERROR: Permission to acme/shop.git denied to dev.\n', 'PermissionDenied'],
  ['ERROR: This repository was archived so it is read-only.\n', 'PermissionDenied'],
  ["ERROR: The 'acme' organization has enabled or enforced SAML SSO.\n", 'PermissionDenied'],
  [
    'ERROR: The repository owner has an IP allow list enabled, and 192.0.2.1 is not permitted to access this repository.\n',
    'PermissionDenied',
  ],
  [
    "remote: \nremote: ========\nremote: \nremote: ERROR: The project you were looking for could not be found or you don't have permission to view it.\nremote: \n",
    'RepositoryNotFound',
  ],
  ['remote: ERROR: This deploy key does not have write access to this project.\n', 'PermissionDenied'],
  ['remote: ERROR: You are not allowed to push code to this project.\n', 'PermissionDenied'],
  ['remote: ERROR: You are not allowed to download code from this project.\n', 'PermissionDenied'],
  ['remote: ERROR: This endpoint has been requested too many times. Try again later.\n', 'RateLimited'],
  ['GitLab: Internal API unreachable\n', 'ProviderUnavailable'],
  ['GitLab: Your SSH key has expired.\n', 'AuthenticationFailed'],
  ['conq: repository does not exist.\n', 'RepositoryNotFound'],
  ['The requested repository either does not exist or you do not have access.\n', 'RepositoryNotFound'],
  ['repository access denied. access via a deployment key is read-only.\n', 'PermissionDenied'],
  [
    'repository access denied. deployment key is not associated with the requested repository.\n',
    'PermissionDenied',
  ],
  ['Unauthorized\n', 'PermissionDenied'],
  ['Gitea: Cannot find repository: acme/shop\n', 'RepositoryNotFound'],
  ['Forgejo: Deploy Key: 1:key is not authorized to write to acme/shop.\n', 'PermissionDenied'],
  ['Gitea: Internal Server Error\n', 'ProviderUnavailable'],
  ["fatal: 'acme/shop.git' does not appear to be a git repository\n", 'RepositoryNotFound'],
  ["fatal: detected dubious ownership in repository at '/srv/acme/shop.git'\n", 'PermissionDenied'],
  ["fatal: unrecognized command 'git-upload-pack '\\''x'\\'''\n", 'NotSupported'],
  ['sh: 1: git-upload-pack: not found\n', 'NotSupported'],
  ['bash: git-upload-pack: command not found\n', 'NotSupported'],
  ['This account is currently not available.\n', 'NotSupported'],
  ['This account is not available\n', 'NotSupported'],
  ['This service allows sftp connections only.\n', 'NotSupported'],
  [
    'remote: ERROR: The git server, Gitaly, is not available at this time. Please contact your administrator.\n',
    'ProviderUnavailable',
  ],
  ['The service is temporarily unavailable.\n', 'ProviderUnavailable'],
  ['503 Service Unavailable\n', 'ProviderUnavailable'],
  ['This repository is currently not available.\n', 'ProviderUnavailable'],
  ['remote: Internal error\n', 'ProviderUnavailable'],
  ['sh: fork: Resource temporarily unavailable\n', 'ProviderUnavailable'],
  ['dial tcp 192.0.2.1:8080: connect: connection refused\n', 'ProviderUnavailable'],
  ['Your password expired.\n', 'AuthenticationFailed'],
  [
    'WARNING: Your password has expired.\nPassword change required but no TTY available.\n',
    'AuthenticationFailed',
  ],
]
for (const [words, reason] of WORDS) {
  t.test(`${words.trim().split('\n').at(-1)} is ${reason}`, async (t) => {
    const meaning = explainSSH(ENDED, { ...ACCOUNT, words: words.replaceAll('\n', '\r\n') }, SCENE)
    t.match(meaning, { reason })
    t.match(String(meaning), /git@git\.example\.com:acme\/shop\.git /)
    t.notMatch(String(meaning), /127\.0\.0\.1/)
  })
}

t.test('the name of a repository that the server repeats says nothing about it', async (t) => {
  for (const path of ['acme/archived-docs', 'team/read-only/mirror'])
    for (const url of [`git@git.example.com:${path}.git`, `ssh://git@git.example.com:2222/${path}`]) {
      const report = { ...ACCOUNT, words: `fatal: '/${path}.git' does not appear to be a git repository\n` }
      t.match(explainSSH(ENDED, report, { ...SCENE, url }), { reason: 'RepositoryNotFound' }, url)
      const archived = { ...ACCOUNT, words: `ERROR: ${path} was archived.\n` }
      t.match(explainSSH(ENDED, archived, { ...SCENE, url }), { message: /is archived and accepts/ }, url)
    }
  const words = 'ERROR: Repository not found.\n'
  const url = 'git@git.example.com:found.git'
  t.match(explainSSH(ENDED, { ...ACCOUNT, words }, { ...SCENE, url }), { reason: 'RepositoryNotFound' })
})

t.test('unknown messages are quoted without secrets', async (t) => {
  const account = {
    ...ACCOUNT,
    doing: 'push',
    words: 'remote: no luck with s3cr3t today\n',
  } as const
  const meaning = explainSSH(ENDED, account, SCENE)
  t.match(meaning, { reason: 'PushRejected', message: /reports "no luck with \*\*\* today"/ })
})

t.test('unknown messages while something is fetched are not a rejection of a commit', async (t) => {
  const account = { ...ACCOUNT, words: 'remote: no luck with s3cr3t today\n' }
  const meaning = explainSSH(ENDED, account, SCENE)
  t.match(meaning, {
    reason: 'ProviderUnavailable',
    message: /reports "no luck with \*\*\* today"; .* retries/,
  })
  const secrets = Array.from({ length: 2_000 }, (_, i) => `s3cr3t-${i}`)
  t.match(explainSSH(ENDED, account, { ...SCENE, secrets }), {
    reason: 'ProviderUnavailable',
    message: /does not serve Git and reports something that cannot be shown; .* retries/,
  })
  const stderr = 'fatal: early EOF\n'
  t.match(explainSSH({ ...ENDED, stderr }, account, SCENE), { reason: 'ProviderUnavailable' })
})

t.test('words in place of the report of a push are not a rejection of its commits', async (t) => {
  const words = 'rpc error: code = Unavailable desc = error reading from server: EOF\n'
  const account = { ...ACCOUNT, doing: 'push', words } as const
  const stderr = 'fatal: the remote end hung up unexpectedly\n'
  t.match(explainSSH({ ...ENDED, exitCode: 1, stderr }, account, SCENE), {
    reason: 'ProviderUnavailable',
    retry: 'transient',
  })
})

t.test(
  'an end without a message is an error of the connection, and so is a failure before there was a channel',
  async (t) => {
    t.match(explainSSH(ENDED, ACCOUNT, SCENE), { reason: 'NetworkError' })
    const failure = new Failure('AuthenticationFailed', 'No.')
    t.equal(explainSSH(ENDED, { ...ACCOUNT, failure, words: 'ERROR: Repository not found.' }, SCENE), failure)
  },
)

t.test('a missing program is recognised by its exit status, and noise by the error of Git', async (t) => {
  t.match(explainSSH(ENDED, { ...ACCOUNT, exitStatus: 127 }, SCENE), {
    reason: 'NotSupported',
    retry: 'slow',
  })
  const stderr = 'fatal: protocol error: bad line length character: Welc\n'
  t.match(explainSSH({ ...ENDED, stderr }, ACCOUNT, SCENE), {
    reason: 'RepositoryNotFound',
    message: /login prints nothing/,
  })
  // In place of the report of a push it is no noise of the login.
  t.match(explainSSH({ ...ENDED, stderr }, { ...ACCOUNT, doing: 'push', undelivered: false }, SCENE), {
    message: /does not answer as a Git repository/,
  })
})

t.test('a git that writes to a connection which has ended says nothing', async (t) => {
  const ended = { ...ENDED, exitCode: 141, stderr: '' }
  t.match(explainSSH(ended, ACCOUNT, SCENE), { reason: 'NetworkError' })
  const words = 'Too many requests\n'
  t.match(explainSSH(ended, { ...ACCOUNT, words }, SCENE), { reason: 'RateLimited' })
  const stderr = 'fatal: unable to write to remote: Broken pipe\n'
  t.match(explainSSH({ ...ENDED, stderr }, ACCOUNT, SCENE), { reason: 'NetworkError' })
})

t.test('errors that Git itself knows come first', async (t) => {
  const account = { ...ACCOUNT, words: 'fatal: git upload-pack: not our ref 1\n' }
  for (const [stderr, expected] of [
    ["fatal: couldn't find remote ref refs/heads/main\n", 'absent'],
    ['fatal: remote error: upload-pack: not our ref 1\n', 'race'],
    ['fatal: write error: File too large\n', { reason: 'NotSupported' }],
  ] as const) {
    t.match(explainSSH({ ...ENDED, stderr }, account, SCENE), expected)
  }
  t.match(explainSSH({ ...ENDED, exitCode: undefined }, account, SCENE), { message: /was killed/ })
})

t.test('where no commit is newer, Git over SSH says so by the words of the server alone', async (t) => {
  const words = 'fatal: no commits selected for shallow requests\n'
  t.equal(explainSSH(ENDED, { ...ACCOUNT, words }, SCENE), 'nothing newer')
})
