import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { fastImport } from '../../../functions/git/session/fast-import.ts'
import type { Pushed, Tip } from '../../../functions/git/remote.ts'
import { fetchTip } from '../../../functions/git/session/fetch.ts'
import { pushOnce } from '../../../functions/git/session/push.ts'
import type { Session } from '../../../functions/git/session/session.ts'
import type { Fault, Target } from '../../harness/git-faults.ts'
import type { GitRepository, RepositoryOptions } from '../../harness/git-repository.ts'
import { sample } from '../../harness/sample.ts'
import { AUTHOR, openStage } from '../stage.ts'

const stage = await openStage()
t.teardown(() => stage.close())
const { server } = stage

interface Attempt {
  readonly branch?: string
  /** What happens between the fetch and the push. */
  readonly meanwhile?: (repository: GitRepository) => Promise<unknown>
  readonly fault?: readonly [Fault, Target]
}

let count = 0

async function attempt(options: RepositoryOptions, { branch = 'main', meanwhile, fault }: Attempt = {}) {
  const repository = await server.createRepository(`push/${++count}`, options)
  return stage.session(repository.url, async (session) => {
    const tip = await fetchTip(session, { branch })
    if (tip === 'moved') throw new Error('Nobody else is at work here')
    const head = await commitOn(session, tip)
    await meanwhile?.(repository)
    const heal =
      fault === undefined
        ? undefined
        : server.faults.add(fault[0], { repository: repository.name, ...fault[1] })
    const pushed: Pushed = await pushOnce(session, tip, head)
    heal?.()
    const now = await repository.git('for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`)
    return { pushed, landed: now === head }
  })
}

async function commitOn(session: Session, tip: Tip): Promise<string> {
  const file = { path: 'a.md', mode: '100644', content: Buffer.from('a') }
  const commit = { files: [file], message: 'A\n', author: AUTHOR, date: new Date() }
  const [head = ''] = await fastImport(session, tip.commit, [commit])
  return head
}

t.test('a push moves the branch', async (t) => {
  t.match(await attempt({}), { pushed: { kind: 'landed' }, landed: true })
})

t.test('a push makes a branch', async (t) => {
  t.match(await attempt({}, { branch: 'fresh' }), { pushed: { kind: 'landed' }, landed: true })
})

t.test('a branch that moved meanwhile is a race, and stays as it is', async (t) => {
  const meanwhile = (repository: GitRepository) => repository.commit('main', { 'b.md': 'b' })
  t.match(await attempt({}, { meanwhile }), { pushed: { kind: 'race' }, landed: false })
})

t.test('a branch that another has made meanwhile is a race', async (t) => {
  const meanwhile = (repository: GitRepository) => repository.git('branch', 'fresh', 'main')
  t.match(await attempt({}, { branch: 'fresh', meanwhile }), { pushed: { kind: 'race' }, landed: false })
})

const LATE =
  'git -C "$GIT_DIR" update-ref refs/heads/main "$(env -u GIT_QUARANTINE_PATH git rev-parse refs/heads/other)"'
t.test('a race that is lost inside the server is also a race', async (t) => {
  const hooks = { 'pre-receive': `env -u GIT_QUARANTINE_PATH ${LATE}` }
  const meanwhile = (repository: GitRepository) => repository.commit('other', { 'b.md': 'b' })
  const { pushed, landed } = await attempt({ hooks, branches: ['other'] }, { meanwhile })
  t.match({ pushed, landed }, { pushed: { kind: 'race' }, landed: false })
  t.notOk('unless' in pushed, 'git says where the branch is')
})

interface Expected {
  readonly kind?: string
  readonly failure?: {
    readonly reason: string
    readonly message?: RegExp
    readonly retryAfterSeconds?: number
  }
  readonly each?: boolean
}

interface Broken {
  readonly pushed: Expected
  readonly landed: boolean
}

/** What the writer makes of it: the reason, and whether the commits are tried one by one. */
function rowOf({ kind, failure, each }: Expected): string {
  return `${kind} ${failure?.reason} ${each}`
}

const refusals: readonly (readonly [string, RepositoryOptions, Attempt, Expected])[] = [
  [
    'a pre-receive hook',
    { hooks: { 'pre-receive': 'echo "no $GIT_PUSH" >&2; exit 1' } },
    {},
    { failure: { reason: 'PushRejected', message: /reports "no"/ }, each: true },
  ],
  [
    'an update hook',
    { hooks: { update: 'echo "not now" >&2; exit 1' } },
    {},
    { failure: { reason: 'PushRejected', message: /reports "not now"/ }, each: true },
  ],
  [
    'a silent hook',
    { hooks: { update: 'exit 1' } },
    {},
    { failure: { reason: 'PushRejected', message: /reports "hook declined"/ }, each: true },
  ],
  [
    'a protected branch',
    {
      hooks: {
        'pre-receive':
          'echo "GitLab: You are not allowed to push code to protected branches on this project." >&2; exit 1',
      },
    },
    {},
    { failure: { reason: 'PushRejected', message: /protected branches on this project/ }, each: false },
  ],
  [
    'a user without the right to write',
    { hooks: { 'pre-receive': 'echo "error: User permission denied for writing." >&2; exit 1' } },
    {},
    { failure: { reason: 'PermissionDenied' }, each: false },
  ],
  [
    'a pack that is too large',
    { config: { 'receive.maxInputSize': '10' } },
    {},
    { failure: { reason: 'PushRejected' }, each: true },
  ],
  [
    'a branch below another',
    { branches: ['feat'] },
    { branch: 'feat/x' },
    { failure: { reason: 'PushRejected', message: /name of another branch/ }, each: false },
  ],
]
for (const [name, options, how, expected] of sample(refusals, ([, , , expected]) => rowOf(expected))) {
  t.test(`${name} rejects the push`, async (t) => {
    t.match(await attempt(options, how), { pushed: { kind: 'refused', ...expected }, landed: false })
  })
}

t.test('a stale lock on the server is an error of the server', async (t) => {
  const hooks = { 'pre-receive': 'touch "$GIT_DIR/refs/heads/main.lock"' }
  t.match(await attempt({ hooks }), {
    pushed: { kind: 'refused', failure: { reason: 'ProviderUnavailable', message: /stale lock/ } },
  })
})

t.test('a server that cannot store the commit is an error of the server', async (t) => {
  const meanwhile = async ({ path }: GitRepository) => {
    const names = Array.from({ length: 256 }, (_, i) =>
      join(path, 'objects', i.toString(16).padStart(2, '0')),
    )
    for (const name of names) await writeFile(name, '', { flag: 'wx' }).catch(() => undefined)
  }
  const pushed = { kind: 'refused', failure: { reason: 'ProviderUnavailable', message: /cannot store/ } }
  t.match(await attempt({ config: { 'core.logAllRefUpdates': 'false' } }, { meanwhile }), {
    pushed,
    landed: false,
  })
})

const OUTAGE = { kind: 'refused', failure: { reason: 'ProviderUnavailable' }, each: false }

// Recorded from servers that cannot run here.
const answers: readonly (readonly [string, string, object])[] = [
  [
    'error: remote unpack failed: unable to create temporary object directory',
    '[remote rejected] (unpacker error)',
    { kind: 'refused', failure: { reason: 'ProviderUnavailable' }, each: false },
  ],
  ['', '[remote rejected] (Internal Server Error)', OUTAGE],
  ['remote: fatal error in commit_refs', '[remote rejected] (failure)', OUTAGE],
  ['remote: GitLab: 502 Bad Gateway', '[remote rejected] (pre-receive hook declined)', OUTAGE],
  [
    'remote: \nremote: GitLab: Internal API unreachable\nremote: ',
    '[remote rejected] (pre-receive hook declined)',
    OUTAGE,
  ],
  ['remote: Gitea: Internal Server Error', '[remote rejected] (pre-receive hook declined)', OUTAGE],
  [
    'remote: GitLab: 500 words are too many for one message.',
    '[remote rejected] (pre-receive hook declined)',
    { kind: 'refused', failure: { reason: 'PushRejected' }, each: true },
  ],
  [
    "remote: error: object 1: hasDotgit: contains '.git'\nerror: remote unpack failed: unpack-objects abnormal exit",
    '[remote rejected] (unpacker error)',
    { kind: 'refused', failure: { reason: 'PushRejected' }, each: true },
  ],
  [
    'remote: error: GH006: Protected branch update failed for refs/heads/main.',
    '[remote rejected] (protected branch hook declined)',
    { kind: 'refused', failure: { reason: 'PushRejected' }, each: false },
  ],
  [
    '',
    '[remote rejected] (shallow update not allowed)',
    { kind: 'refused', failure: { reason: 'PushRejected' }, each: false },
  ],
  [
    "remote: error: cannot lock ref 'refs/heads/main': is at 11 but expected 22",
    '[remote rejected] (failed to update ref)',
    { kind: 'race' },
  ],
  ['', '[remote rejected] (incorrect old value provided)', { kind: 'race' }],
  ['', '[rejected] (fetch first)', { kind: 'race' }],
  [
    '',
    '[rejected] (would clobber existing tag)',
    { kind: 'refused', failure: { reason: 'PushRejected' }, each: false },
  ],
]
for (const [stderr, status, expected] of answers) {
  t.test(`${status} ${stderr}`, async (t) => {
    const url = 'https://git.example.com/acme/shop.git'
    await stage.session(url, async (session) => {
      const ended = { exitCode: 1, stdout: `!\ta:b\t${status}\n`, stderr, seconds: 1 }
      const deaf: Session = {
        ...session,
        online: () => Promise.resolve({ ended, meaning: 'absent', undelivered: false }),
      }
      t.match(await pushOnce(deaf, { branch: 'main', commit: undefined, exists: false }, 'x'), expected)
    })
  })
}

// A report of receive-pack that leaves the branch out (gitprotocol-pack(5), "Report Status"), in the side band.
const SILENT_REPORT = {
  kind: 'status',
  status: 200,
  headers: { 'content-type': 'application/x-git-receive-pack-result' },
  body: '0017\u0001000eunpack ok\n00000000',
} as const

const POST: Target = { exchange: 'receive-pack' }
const breaks: readonly (readonly [string, Fault, Target, Broken])[] = [
  ['the answer is lost after the push', { kind: 'lost' }, POST, { pushed: { kind: 'landed' }, landed: true }],
  ['the answer is cut after the push', { kind: 'cut' }, POST, { pushed: { kind: 'landed' }, landed: true }],
  [
    'the connection breaks before the push',
    { kind: 'drop' },
    POST,
    { pushed: { kind: 'refused', failure: { reason: 'NetworkError' } }, landed: false },
  ],
  [
    'the server is busy at the second request',
    { kind: 'status', status: 503, headers: { 'Retry-After': '7' } },
    POST,
    {
      pushed: { kind: 'refused', failure: { reason: 'ProviderUnavailable', retryAfterSeconds: 7 } },
      landed: false,
    },
  ],
  [
    'the server does not report the result for the branch, which did not move',
    SILENT_REPORT,
    POST,
    { pushed: { kind: 'refused', failure: { reason: 'ProviderUnavailable' }, each: false }, landed: false },
  ],
  [
    'the server is busy at the first request',
    { kind: 'status', status: 503 },
    { exchange: 'receive-pack-refs' },
    { pushed: { kind: 'refused', failure: { reason: 'ProviderUnavailable' } }, landed: false },
  ],
  [
    'the proxy refuses it as too large',
    { kind: 'status', status: 413 },
    POST,
    { pushed: { kind: 'refused', failure: { reason: 'PushRejected' }, each: true }, landed: false },
  ],
  [
    'the right is missing at the second request',
    { kind: 'status', status: 403 },
    POST,
    { pushed: { kind: 'refused', failure: { reason: 'PermissionDenied' } }, landed: false },
  ],
  [
    'a login page is the answer',
    { kind: 'page' },
    { exchange: 'receive-pack-refs' },
    { pushed: { kind: 'refused', failure: { reason: 'RepositoryNotFound' } }, landed: false },
  ],
]
for (const [name, fault, target, expected] of sample(breaks, ([, , , { pushed }]) => rowOf(pushed))) {
  t.test(`${name}: the result is known`, async (t) => {
    t.match(await attempt({}, { fault: [fault, target] }), expected)
  })
}

t.test('a connection that breaks before a new branch is pushed has not made it', async (t) => {
  const fault = [{ kind: 'drop' }, POST] as const
  t.match(await attempt({}, { branch: 'fresh', fault }), {
    pushed: { kind: 'refused', failure: { reason: 'NetworkError' } },
    landed: false,
  })
})

const OTHER_ON_TOP = 'git commit-tree -p main -m Other main^{tree} | xargs git update-ref refs/heads/main'
const UNREPORTED = { stdout: '!\ta:b\t[remote failure] (remote failed to report status)\n' }
const SENT = '12:00:00.000000 http.c:845 => Send header: POST /a.git/git-receive-pack HTTP/1.1\n'
// What the second of two requests hears when the first has moved the branch.
const SENT_TWICE = {
  stdout: '!\ta:b\t[remote rejected] (failed to update ref)\n',
  stderr: `${SENT}${SENT}remote: error: cannot lock ref 'refs/heads/main': is at 11 but expected 22\n`,
}
for (const { name, hooks, said, expected } of [
  { name: 'lands, though the server does not say so', hooks: {}, said: UNREPORTED, expected: 'landed' },
  {
    name: 'has another on top, though the server does not say so',
    hooks: { 'post-receive': OTHER_ON_TOP },
    said: UNREPORTED,
    expected: 'unknown',
  },
  { name: 'is sent twice and lands the first time', hooks: {}, said: SENT_TWICE, expected: 'landed' },
]) {
  t.test(`a push that ${name}`, async (t) => {
    const repository = await server.createRepository(`push/${++count}`, { hooks })
    await stage.session(repository.url, async (session) => {
      const tip = await fetchTip(session, { branch: 'main' })
      if (tip === 'moved') throw new Error('Nobody else is at work here')
      const misheard: Session = {
        ...session,
        async online(args, options) {
          const result = await session.online(args, options)
          if (args[0] !== 'push') return result
          const ended = { ...result.ended, exitCode: 1, ...said }
          return { meaning: 'absent', ended, undelivered: false }
        },
      }
      t.match(await pushOnce(misheard, tip, await commitOn(session, tip)), { kind: expected })
    })
  })
}

t.test('a result that is lost while another writer pushes is looked up in history', async (t) => {
  const hooks = { 'post-receive': OTHER_ON_TOP }
  t.match(await attempt({ hooks }, { fault: [{ kind: 'lost' }, POST] }), {
    pushed: { kind: 'unknown' },
    landed: false,
  })
})

t.test('a rejection without a cause may be a race', async (t) => {
  const hooks = { 'pre-receive': 'rm -rf "$GIT_DIR/logs" && touch "$GIT_DIR/logs"' }
  t.match(await attempt({ hooks }), {
    pushed: { kind: 'race', unless: { reason: 'PushRejected' } },
    landed: false,
  })
})
