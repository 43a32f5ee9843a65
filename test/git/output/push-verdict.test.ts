import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { repeatedWords, type IsRepeated } from '../../../functions/git/output/repeated-words.ts'
import { judgeByTip, judgeRefusal, unreported } from '../../../functions/git/output/push-verdict.ts'

const context = {
  url: 'https://git.example.com/acme/shop.git',
  secrets: ['s3cret'],
  deadlineSeconds: 120,
  fetchLimitMiB: 256,
}

const OUTAGE = { kind: 'refused', failure: { reason: 'ProviderUnavailable' }, each: false }

// What the server prints, its reason for the ref, and what it means. Recorded from servers that cannot run here.
const answers: readonly (readonly [string, string, object])[] = [
  [
    'error: remote unpack failed: unable to create temporary object directory',
    'unpacker error',
    { kind: 'refused', failure: { reason: 'ProviderUnavailable' }, each: false },
  ],
  ...[
    "mktemp: failed to create file via template '/tmp/tmp.XXXXXXXXXX': No space left on device",
    'hook: fork: retry: Resource temporarily unavailable',
    './hook: fork: Cannot allocate memory',
    'fatal: Out of memory, malloc failed (tried to allocate 10485760 bytes)',
    'error: hooks/pre-receive died of signal 9',
  ].map((words): [string, string, object] => [words, 'pre-receive hook declined', OUTAGE]),
  // Nothing says that the commit is not taken: over HTTPS, a hook that was killed leaves no more words than one that has none.
  [
    '',
    'pre-receive hook declined',
    { kind: 'refused', failure: { reason: 'PushRejected', retry: 'slow' }, each: true },
  ],
  [
    'The file "No space left on device" is too large.',
    'pre-receive hook declined',
    { kind: 'refused', failure: { reason: 'PushRejected', retry: 'never' }, each: true },
  ],
  ['', 'Internal Server Error', OUTAGE],
  ['fatal error in commit_refs', 'failure', OUTAGE],
  ['GitLab: 502 Bad Gateway', 'pre-receive hook declined', OUTAGE],
  ['\nGitLab: Internal API unreachable\n', 'pre-receive hook declined', OUTAGE],
  ['Gitea: Internal Server Error', 'pre-receive hook declined', OUTAGE],
  [
    'GitLab: The repository is temporarily read-only. Please try again later.',
    'pre-receive hook declined',
    OUTAGE,
  ],
  [
    'GitLab: 500 words are too many for one message.',
    'pre-receive hook declined',
    { kind: 'refused', failure: { reason: 'PushRejected' }, each: true },
  ],
  ...[
    'GitLab: Your push to this repository has been rejected because it would exceed storage limits.',
    'GitLab: Your push has been rejected, because this repository has exceeded its size limit of 10 MB by 1 MB.',
    'error: repository is over its disk quota',
    'repository is in read only mode (over 2 GB size limit).',
    "[ALERT] Your push failed because the account 'acme' has exceeded its user limit and this repository is restricted to read-only access.",
    'Forgejo: Quota exceeded',
    'TF402462: The push would increase this repository size by 7772458 bytes (the limit is 4194304 bytes).',
  ].map((words): [string, string, object] => [
    words,
    'pre-receive hook declined',
    { kind: 'refused', failure: { reason: 'PushRejected', retry: 'slow' } },
  ]),
  ...[
    "error: File a.zip is 301.74 MB; this exceeds GitHub's file size limit of 100.00 MB",
    'pre-receive: error: Changes blocked by files exceeding the file size limit',
    'This repository takes no files of this kind.',
  ].map((words): [string, string, object] => [
    words,
    'pre-receive hook declined',
    { kind: 'refused', failure: { reason: 'PushRejected', retry: 'never' } },
  ]),
  [
    "error: object 1: hasDotgit: contains '.git'\nerror: remote unpack failed: unpack-objects abnormal exit",
    'unpacker error',
    { kind: 'refused', failure: { reason: 'PushRejected', retry: 'never' }, each: true },
  ],
  [
    'error: GH006: Protected branch update failed for refs/heads/main.',
    'protected branch hook declined',
    { kind: 'refused', failure: { reason: 'PushRejected' }, each: false },
  ],
  [
    'error: GH013: Repository rule violations found for refs/heads/main.\n\n- Changes must be made through a pull request.',
    'push declined due to repository rule violations',
    { kind: 'refused', failure: { reason: 'PushRejected' }, each: false },
  ],
  [
    'error: GH013: Repository rule violations found for refs/heads/main.\n\n- Commits must have verified signatures.',
    'push declined due to repository rule violations',
    { kind: 'refused', failure: { reason: 'PushRejected' }, each: true },
  ],
  [
    'Permission denied to update branch main.',
    'pre-receive hook declined',
    { kind: 'refused', failure: { reason: 'PushRejected' }, each: false },
  ],
  [
    '',
    'TF402455: Pushes to this branch are not permitted; you must use a pull request to update this branch.',
    { kind: 'refused', failure: { reason: 'PushRejected' }, each: false },
  ],
  [
    'Analyzing objects... (3/3) (5 ms)\nStoring packfile... done (27 ms)',
    'TF402455: Pushes to this branch are not permitted; you must use a pull request to update this branch.',
    {
      failure: { reason: 'PushRejected', message: /reports "TF402455: Pushes .* branch\. Analyzing objects/ },
    },
  ],
  [
    'Processing changes: refs: 1, done',
    'prohibited by Gerrit: not permitted: update',
    { failure: { message: /reports "prohibited by Gerrit: not permitted: update Processing changes/ } },
  ],
  [
    'GitLab: no.',
    'pre-receive hook declined',
    { failure: { reason: 'PushRejected', message: /reports "GitLab: no\."/ } },
  ],
  ['', 'shallow update not allowed', { kind: 'refused', failure: { reason: 'PushRejected' }, each: false }],
  [
    "error: cannot lock ref 'refs/heads/main': is at 11 but expected 22",
    'failed to update ref',
    { kind: 'race' },
  ],
  [
    "error: cannot lock ref 'refs/heads/main': unable to resolve reference 'refs/heads/main'",
    'failed to update ref',
    { kind: 'race' },
  ],
  ['', 'incorrect old value provided', { kind: 'race' }],
  // Of Git 2.50 and later, where somebody has deleted the branch.
  ['', 'reference does not exist', { kind: 'race' }],
  [
    "error: cannot lock ref 'refs/heads/main': reference is missing but expected 22",
    'failed to update ref',
    { kind: 'race' },
  ],
  [
    '',
    'reference conflict due to case-insensitive filesystem',
    { kind: 'refused', failure: { reason: 'PushRejected', retry: 'slow' } },
  ],
  ['', "cannot lock ref 'refs/heads/main': is at 11 but expected 22", { kind: 'race' }],
  ['', 'failed to lock', { kind: 'race', unless: { reason: 'PushRejected', retry: 'slow' } }],
  [
    'error: unable to append to refs: No space left on device',
    'failed to update ref',
    { kind: 'race', unless: { reason: 'PushRejected', retry: 'slow', message: /No space left/ } },
  ],
  // Git with reftable locks all refs at once: any push to the repository may have them.
  ...['cannot lock references', 'reftable: transaction prepare: data concurrently modified'].map(
    (words): [string, string, object] => [
      `error: ${words}`,
      'failed to update ref',
      { kind: 'refused', failure: { reason: 'ProviderUnavailable', retry: 'transient' }, each: false },
    ],
  ),
  ['', 'unpacker error', { failure: { reason: 'PushRejected', retry: 'slow' }, each: true }],
  // The server has lost what it took, as where its disk is broken.
  [
    "error: unpack should have generated 1234, but I can't find it!",
    'bad pack',
    { kind: 'refused', failure: { reason: 'PushRejected', retry: 'slow' }, each: true },
  ],
  [
    '',
    "TF401028: The reference 'refs/heads/main' has already been updated by another client, so you cannot update it.",
    { kind: 'race', unless: { reason: 'PushRejected' } },
  ],
  // Of a hook: the server has not come to the ref, and says nothing of itself.
  ...[
    'The reference not found in JIRA',
    "error: cannot lock ref 'refs/heads/main': is at 11 but expected 22",
    "a 'b' exists; cannot create 'c'",
    "x.lock': File exists",
    'a.md: fatal error in commit_refs',
    'a.md: Internal Server Error',
    'a.md: User permission denied for writing',
  ].map(
    (words) =>
      [
        words,
        'pre-receive hook declined',
        { kind: 'refused', failure: { reason: 'PushRejected' }, each: true },
      ] as const,
  ),
  [
    "error: cannot lock ref 'refs/heads/feat/x': 'refs/heads/feat' exists; cannot create 'refs/heads/feat/x'",
    'failed to update ref',
    {
      kind: 'refused',
      failure: { reason: 'PushRejected', retry: 'slow', message: /name of another branch/ },
      each: false,
    },
  ],
]
/** Nothing is repeated where nothing was brought. */
const NOTHING_REPEATED: IsRepeated = () => false

/** What a hook prints where it declines. */
function judgeDeclined(remote: string, isRepeated = NOTHING_REPEATED): ReturnType<typeof judgeRefusal> {
  return judgeRefusal({ reason: 'pre-receive hook declined', remote, unpack: '' }, context, isRepeated)
}

for (const [remote, reason, expected] of answers) {
  t.test(`${reason}: ${remote}`, async (t) => {
    t.match(judgeRefusal({ reason, remote, unpack: '' }, context, NOTHING_REPEATED), expected)
  })
}

t.test('a rule for files is none of the branch: other commits of the push are tried', async (t) => {
  for (const words of [
    'GitLab: Pushes to protected branches that contain changes to files that\nmatch patterns defined in `CODEOWNERS` are disabled for\nthis project.',
    'infra is read-only for automation',
    'archived/ takes no files',
    'use the other folder: this one was archived',
  ])
    t.match(judgeDeclined(words), { kind: 'refused', failure: { reason: 'PushRejected' }, each: true }, words)
  for (const words of [
    'ERROR: This repository was archived so it is read-only.',
    "GitLab: You can't push code to a read-only GitLab instance.",
    'Repository "acme/shop" is archived, and takes no commits.',
    'GitLab: You are not allowed to push code to protected branches on this project.',
  ])
    t.match(
      judgeDeclined(words),
      { kind: 'refused', failure: { reason: 'PushRejected' }, each: false },
      words,
    )
})

t.test('words that the push has brought are not the words of the server', async (t) => {
  const files = [{ path: 'docs/archived/read-only.md' }]
  const author = { name: 'Ada', email: 'ada@example.com' }
  const message =
    'GitLab: 502 Bad Gateway\n\nUser permission denied for writing\nexecution exceeded 5s timeout\ninternal error\n'
  const commits = [{ files, message, author, date: new Date(0) }]
  const judge = (remote: string) => {
    const isRepeated = repeatedWords({ url: context.url, branch: 'protected branch', commits })
    return judgeDeclined(remote, isRepeated)
  }
  for (const words of [
    'docs/archived/read-only.md is too long',
    'GitLab: 502 Bad Gateway',
    'User permission denied for writing',
    'nothing for the protected branch',
    '3f2a1b: execution exceeded 5s timeout',
    'ERROR: internal error',
  ])
    t.match(judge(words), { kind: 'refused', failure: { reason: 'PushRejected' }, each: true }, words)
  t.match(judge('docs/archived/read-only.md: this is a read only mirror'), { each: false })
  t.match(judge('GitLab: 503 Service'), OUTAGE)
  t.match(judge('error: User permission denied for writing.'), { each: true }, 'brought, too')
})

t.test('where the server had too little time, fewer commits may take less', async (t) => {
  for (const words of [
    'check.sh: execution exceeded 5s timeout',
    'GitLab: Push operation timed out\n\nTiming information for debugging purposes:',
    'error: timeout while processing changes',
  ])
    t.match(
      judgeDeclined(words),
      { kind: 'refused', failure: { reason: 'ProviderUnavailable', retry: 'transient' }, each: true },
      words,
    )
})

t.test('why the server cannot store the commits counts for its disk alone', async (t) => {
  const refusal = { reason: 'unpacker error', remote: '' }
  t.match(
    judgeRefusal(
      { ...refusal, unpack: 'unable to create temporary object directory' },
      context,
      NOTHING_REPEATED,
    ),
    {
      failure: { reason: 'ProviderUnavailable', message: /cannot store/ },
    },
  )
  t.match(judgeRefusal({ ...refusal, unpack: 'index-pack abnormal exit' }, context, NOTHING_REPEATED), {
    failure: { reason: 'PushRejected', message: /reports "unpacker error"/ },
  })
})

t.test('a push without an answer is judged by where the branch is', async (t) => {
  const otherwise = unreported(context)
  t.match(otherwise, { kind: 'refused', failure: { reason: 'ProviderUnavailable' }, each: false })
  const push = { tip: { branch: 'main', commit: 'old', exists: true }, head: 'new' }
  const judge = (now: string | undefined, more = {}) =>
    judgeByTip(() => Promise.resolve(now), { ...push, ...more }, otherwise)
  t.same(await judge('new'), { kind: 'landed' })
  const late = { ...otherwise, late: true }
  t.same(await judge('old'), late, 'and the server may still carry it out')
  t.same(await judge('other'), { kind: 'unknown' })
  t.same(await judge(undefined), { kind: 'unknown' })
  t.same(await judge(undefined, { tip: { ...push.tip, exists: false } }), late)
  const deaf = (): Promise<never> => Promise.reject(new Failure('NetworkError', 'No connection.'))
  t.same(await judgeByTip(deaf, push, otherwise), late)
  t.same(await judgeByTip(deaf, push, { kind: 'race' }), { kind: 'unknown' })
})
