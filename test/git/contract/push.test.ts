import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Pushed, Remote, Tip } from '../../../functions/git/remote.ts'
import type { Fault, Target } from '../../harness/git-faults.ts'
import type { GitRepository, RepositoryOptions } from '../../harness/git-repository.ts'
import { sample } from '../../harness/sample.ts'
import { waitFor } from '../../harness/wait.ts'
import { engineTest } from './engine-test.ts'
import { AUTHOR, changeOf, ENGINES, openStage, outcomeOf, type EngineName } from '../stage.ts'

// What a push ends in, by both engines.
const stage = await openStage()
t.teardown(() => stage.close())
const { server } = stage

interface Attempt {
  readonly branch?: string
  readonly path?: string
  readonly message?: string
  /** What happens before the reading, and between it and the push. */
  readonly before?: (repository: GitRepository) => Promise<unknown>
  readonly meanwhile?: (repository: GitRepository) => Promise<unknown>
  readonly fault?: readonly [Fault, Target]
  /** How long the push may still begin, in milliseconds, each time when that is asked. */
  readonly remaining?: () => number
}

let count = 0

async function attempt(
  engine: EngineName,
  options: RepositoryOptions,
  { branch = 'main', path = 'a.md', message = 'A\n', before, meanwhile, fault, remaining }: Attempt = {},
) {
  const repository = await server.createRepository(`push/${++count}`, options)
  await before?.(repository)
  return stage.remote(engine, repository.url, async (remote) => {
    const tip = await remote.readTip({ branch })
    if (tip === 'moved') throw new Error('Nobody else is at work here')
    const head = await commitOn(remote, tip, { path, message })
    await meanwhile?.(repository)
    const heal =
      fault === undefined
        ? undefined
        : server.faults.add(fault[0], { repository: repository.name, ...fault[1] })
    const pushed: Pushed = await remote.push(tip, head, remaining)
    heal?.()
    const now = await repository.git('for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`)
    return { pushed, landed: now === head }
  })
}

async function commitOn(
  remote: Remote,
  tip: Tip,
  { path, message }: { readonly path: string; readonly message: string },
): Promise<string> {
  const file = { path, mode: '100644', content: Buffer.from('a') }
  await remote.readTree(tip, [file.path])
  const commit = { files: [file], message, author: AUTHOR, date: new Date() }
  const [head = ''] = await remote.writeCommits(tip, [commit])
  return head
}

const LATE =
  'git -C "$GIT_DIR" update-ref refs/heads/main "$(env -u GIT_QUARANTINE_PATH git rev-parse refs/heads/other)"'

interface Expected {
  readonly kind?: string
  readonly failure?: {
    readonly reason: string
    readonly message?: RegExp
    readonly retryAfterSeconds?: number
    readonly fallback?: boolean
  }
  readonly each?: boolean
  readonly late?: boolean
}

interface Broken {
  readonly pushed: Expected
  readonly landed: boolean
}

/** What the writer makes of it: the reason, and whether the commits are tried one by one. */
function rowOf({ kind, failure, each, late }: Expected): string {
  return `${kind} ${failure?.reason} ${each} ${late}`
}

type Refusal = readonly [string, RepositoryOptions, Attempt, Expected]

/** Prints the paths of what is pushed, as hooks and hosts do. */
const PATHS = 'read old new ref; git diff --name-only $old $new >&2'

/** Paths that are made of words of hosts. */
const REPEATED = [
  'fatal error in commit_refs',
  'User permission denied for writing',
  'docs/archived/read-only.md',
  'GitLab: 502 .md',
]

const refusals: readonly Refusal[] = [
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
    'a hook that finds no reference',
    { hooks: { 'pre-receive': 'echo "JIRA issue reference not found" >&2; exit 1' } },
    {},
    { failure: { reason: 'PushRejected', message: /JIRA issue/ }, each: true },
  ],
  [
    'a hook that prints 3 MiB',
    {
      hooks: {
        'pre-receive': 'echo "not now" >&2; yes "and more, $(seq -s " " 20)" | head -c 3145728 >&2; exit 1',
      },
    },
    {},
    { failure: { reason: 'PushRejected' }, each: true },
  ],
  ...REPEATED.map((path): Refusal => [
    `a hook that repeats the path ${path}`,
    { hooks: { 'pre-receive': `${PATHS}; exit 1` } },
    { path },
    { failure: { reason: 'PushRejected' }, each: true },
  ]),
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

// A report of receive-pack that leaves the branch out (gitprotocol-pack(5), "Report Status"), in the side band.
const SILENT_REPORT = {
  kind: 'status',
  status: 200,
  headers: { 'content-type': 'application/x-git-receive-pack-result' },
  body: '0017\u0001000eunpack ok\n00000000',
} as const

/** The error is in the band for errors (gitprotocol-pack(5), "Packfile Data"). */
const BROKEN_REPORTS = [
  '000d\u0003not now\n0000',
  '002e\u0001000eunpack ok\n0017ok refs/heads/main\n0000000d\u0003not now\n0000',
]

/** What Git takes for refs/heads/prod where that is missing, and beside it. */
const STRANGERS = ['refs/heads/refs/heads/prod', 'refs/tags/refs/heads/prod'].flatMap((ref) =>
  [false, true].map((exists) => [ref, exists] as const),
)

const POST: Target = { exchange: 'receive-pack' }
const FIRST: Record<EngineName, Target> = { 'git binary': { exchange: 'receive-pack-refs' }, direct: POST }
const breaks: readonly (readonly [string, Fault, (engine: EngineName) => Target, Broken])[] = [
  [
    'the answer is lost after the push',
    { kind: 'lost' },
    () => POST,
    { pushed: { kind: 'landed' }, landed: true },
  ],
  [
    'the answer is cut after the push',
    { kind: 'cut' },
    () => POST,
    { pushed: { kind: 'landed' }, landed: true },
  ],
  [
    'the connection breaks before the push',
    { kind: 'drop' },
    () => POST,
    { pushed: { kind: 'refused', failure: { reason: 'NetworkError' } }, landed: false },
  ],
  [
    'the server is busy at the last request',
    { kind: 'status', status: 503, headers: { 'Retry-After': '7' } },
    () => POST,
    {
      pushed: { kind: 'refused', failure: { reason: 'ProviderUnavailable', retryAfterSeconds: 7 } },
      landed: false,
    },
  ],
  [
    'the server does not report the result for the branch, which did not move',
    SILENT_REPORT,
    () => POST,
    { pushed: { kind: 'refused', failure: { reason: 'ProviderUnavailable' }, each: false }, landed: false },
  ],
  [
    'the server is busy at the first request',
    { kind: 'status', status: 503 },
    (engine) => FIRST[engine],
    { pushed: { kind: 'refused', failure: { reason: 'ProviderUnavailable' } }, landed: false },
  ],
  [
    'the proxy refuses it as too large',
    { kind: 'status', status: 413 },
    () => POST,
    { pushed: { kind: 'refused', failure: { reason: 'PushRejected' }, each: true }, landed: false },
  ],
  [
    'the right is missing at the last request',
    { kind: 'status', status: 403 },
    () => POST,
    { pushed: { kind: 'refused', failure: { reason: 'PermissionDenied' } }, landed: false },
  ],
  [
    'a login page is the answer',
    { kind: 'page' },
    (engine) => FIRST[engine],
    { pushed: { kind: 'refused', failure: { reason: 'RepositoryNotFound' } }, landed: false },
  ],
  [
    'a page answers the push, which may have been carried out, so no other login is tried',
    { kind: 'page' },
    () => POST,
    {
      pushed: { kind: 'refused', failure: { reason: 'RepositoryNotFound', fallback: false }, late: true },
      landed: false,
    },
  ],
]

for (const engine of ENGINES) {
  const test = engineTest(t, engine)
  test('a push moves the branch, or makes it', async (t) => {
    t.match(await attempt(engine, {}), { pushed: { kind: 'landed' }, landed: true })
    t.match(await attempt(engine, {}, { branch: 'fresh' }), { pushed: { kind: 'landed' }, landed: true })
  })

  test('a branch that moved, or was made, meanwhile is a race, and stays as it is', async (t) => {
    const moved = (repository: GitRepository) => repository.commit('main', { 'b.md': 'b' })
    t.match(await attempt(engine, {}, { meanwhile: moved }), { pushed: { kind: 'race' }, landed: false })
    const made = (repository: GitRepository) => repository.git('branch', 'fresh', 'main')
    const late = { branch: 'fresh', meanwhile: made }
    t.match(await attempt(engine, {}, late), { pushed: { kind: 'race' }, landed: false })
  })

  test('a race that is lost inside the server is also a race', async (t) => {
    const hooks = { 'pre-receive': `env -u GIT_QUARANTINE_PATH ${LATE}` }
    const meanwhile = (repository: GitRepository) => repository.commit('other', { 'b.md': 'b' })
    const { pushed, landed } = await attempt(engine, { hooks, branches: ['other'] }, { meanwhile })
    t.match({ pushed, landed }, { pushed: { kind: 'race' }, landed: false })
    t.notOk('unless' in pushed, 'git says where the branch is')
  })

  for (const [name, options, how, expected] of sample(refusals, (row) => `${engine} ${rowOf(row[3])}`)) {
    test(`${name} rejects the push`, async (t) => {
      const ended = await attempt(engine, options, how)
      t.match(ended, { pushed: { kind: 'refused', ...expected }, landed: false })
    })
  }

  test('a hook that repeats a path and accepts it does not decide about the push', async (t) => {
    for (const path of sample(REPEATED, () => engine)) {
      const ended = await attempt(engine, { hooks: { 'post-receive': PATHS } }, { path })
      t.match(ended, { pushed: { kind: 'landed' }, landed: true }, path)
    }
  })

  test('a hook that prints a message in lines of another length does not decide about the push', async (t) => {
    const message = 'User permission\ndenied for writing\n\nMore\n'
    const hooks = { 'pre-receive': 'read old new ref; git log --format=%s $old..$new; exit 1' }
    const failure = { reason: 'PushRejected' }
    t.match(await attempt(engine, { hooks }, { message }), { pushed: { failure, each: true }, landed: false })
  })

  test('a repository that is said to have moved has, whatever the push has brought', async (t) => {
    const message = 'This repository moved. Please use the new location:\n'
    const words = `${message}  https://git.example.com/x/y.git`
    const hooks = { 'post-receive': `printf '%s\\n' '${words}'` }
    const failure = { reason: 'RepositoryNotFound', message: /has moved to https:.*x\/y/ }
    t.match(await attempt(engine, { hooks }, { message }), { pushed: { failure }, landed: true })
  })

  test('a stale lock on the server is an error of the server', async (t) => {
    const hooks = { 'pre-receive': 'touch "$GIT_DIR/refs/heads/main.lock"' }
    t.match(await attempt(engine, { hooks }), {
      pushed: { kind: 'refused', failure: { reason: 'ProviderUnavailable', message: /stale lock/ } },
    })
  })

  test('a server that cannot store the commit is an error of the server', async (t) => {
    const meanwhile = async ({ path }: GitRepository) => {
      const names = Array.from({ length: 256 }, (_, i) =>
        join(path, 'objects', i.toString(16).padStart(2, '0')),
      )
      for (const name of names) await writeFile(name, '', { flag: 'wx' }).catch(() => undefined)
    }
    const pushed = { kind: 'refused', failure: { reason: 'ProviderUnavailable', message: /cannot store/ } }
    const config = { 'core.logAllRefUpdates': 'false' }
    t.match(await attempt(engine, { config }, { meanwhile }), { pushed, landed: false })
  })

  for (const [name, fault, target, expected] of sample(
    breaks,
    (row) => `${engine} ${rowOf(row[3].pushed)}`,
  )) {
    test(`${name}: the result is known`, async (t) => {
      t.match(await attempt(engine, {}, { fault: [fault, target(engine)] }), expected)
    })
  }

  test('an error in place of the report, or behind it, is no refusal of the commits', async (t) => {
    for (const body of sample(BROKEN_REPORTS, () => engine)) {
      t.match(await attempt(engine, {}, { fault: [{ ...SILENT_REPORT, body }, POST] }), {
        pushed: { kind: 'refused', failure: { retry: 'transient' }, each: false, late: true },
        landed: false,
      })
    }
  })

  test('a ref whose name only ends with that of the branch is neither read nor moved', async (t) => {
    for (const [stranger, exists] of sample(STRANGERS, () => engine)) {
      const branches = exists ? ['prod'] : []
      const repository = await server.createRepository(`push/${++count}`, { branches })
      const theirs = await repository.commit('theirs', { 'theirs.md': 'x' })
      await repository.git('update-ref', stranger, theirs)
      const pushed = await stage.push(engine, changeOf(repository.url, 'a.md', { branch: 'prod' }), {})
      t.equal(await repository.git('rev-parse', stranger), theirs)
      const asked = await stage.remote(engine, repository.url, (remote) =>
        outcomeOf(remote.askToPush({ branch: 'prod', commit: undefined, exists: true })),
      )
      if (engine === 'git binary') {
        // Git itself cannot be told to leave the other one alone.
        const failure = { reason: 'PushRejected', message: /ends with the full name of this one .* delete/ }
        t.match([pushed, asked], [failure, failure])
        continue
      }
      t.match(pushed, { outcome: 'pushed', branch: 'prod' }, stranger)
      t.same(await repository.log('refs/heads/prod'), ['Write a.md', 'Begin'])
    }
  })

  test('a connection that breaks before a new branch is pushed has not made it', async (t) => {
    const fault = [{ kind: 'drop' }, POST] as const
    t.match(await attempt(engine, {}, { branch: 'fresh', fault }), {
      pushed: { kind: 'refused', failure: { reason: 'NetworkError' } },
      landed: false,
    })
  })

  test('a result that is lost while another writer pushes is looked up in history', async (t) => {
    const onTop = 'git commit-tree -p main -m Other main^{tree} | xargs git update-ref refs/heads/main'
    const hooks = { 'post-receive': onTop }
    t.match(await attempt(engine, { hooks }, { fault: [{ kind: 'lost' }, POST] }), {
      pushed: { kind: 'unknown' },
      landed: false,
    })
  })

  test('a rejection without a cause may be a race', async (t) => {
    const hooks = { 'pre-receive': 'rm -rf "$GIT_DIR/logs" && touch "$GIT_DIR/logs"' }
    t.match(await attempt(engine, { hooks }), {
      pushed: { kind: 'race', unless: { reason: 'PushRejected' } },
      landed: false,
    })
  })
}

for (const engine of ENGINES) {
  const test = engineTest(t, engine)
  test('a push that may begin lands', async (t) => {
    t.match(await attempt(engine, {}, { remaining: () => 20_000 }), {
      pushed: { kind: 'landed' },
      landed: true,
    })
  })

  test('a push that may not begin any more is not sent, and is a race', async (t) => {
    const before = server.requests.length
    t.match(await attempt(engine, {}, { remaining: () => 0 }), { pushed: { kind: 'race' }, landed: false })
    const pushes = server.requests.slice(before).filter(({ exchange }) => exchange === 'receive-pack')
    t.same(pushes, [])
  })
}

t.test('direct: that is asked once the connection is open, right before the first byte', async (t) => {
  let connected = 0
  const remaining = (): number => (connected = server.requests.length)
  const before = server.requests.length
  await attempt('direct', {}, { remaining })
  t.ok(connected > before, 'the requests before have been answered')
})

t.test('direct: what became of the ref is read behind 3 MiB of words', async (t) => {
  const words = 'echo "not now"; yes "and more" | head -c 3145728'
  const refused = { failure: { reason: 'PushRejected', message: /reports "not now and more/ }, each: true }
  const hooks = { 'pre-receive': `{ ${words}; } >&2; exit 1` }
  t.match(await attempt('direct', { hooks }), { pushed: { kind: 'refused', ...refused }, landed: false })
  t.match(await attempt('direct', { hooks: { 'post-receive': `{ ${words}; } >&2` } }), {
    pushed: { kind: 'landed' },
    landed: true,
  })
})

t.test('git binary: a git whose parent is held up does not push once the claim has ended', async (t) => {
  // The answer about the refs comes two seconds later, and git goes on by itself.
  const { promise: until, resolve } = Promise.withResolvers<undefined>()
  const fault = [{ kind: 'hold', when: 'before', until }, { exchange: 'receive-pack-refs' }] as const
  const timer = setTimeout(() => resolve(undefined), 2_500)
  t.match(await attempt('git binary', {}, { fault, remaining: () => 1_000 }), {
    pushed: { kind: 'race' },
    landed: false,
  })
  clearTimeout(timer)
})

t.test(
  'git binary: a branch that gets another history while a push to it begins is a lost race',
  async (t) => {
    const { promise: until, resolve } = Promise.withResolvers<undefined>()
    const fault = [
      { kind: 'hold', when: 'before', until },
      { exchange: 'receive-pack', times: 1 },
    ] as const
    async function rewrite(repository: GitRepository): Promise<void> {
      const { name } = repository
      const begins = () =>
        server.requests.find((seen) => seen.repository === name && seen.exchange === 'receive-pack')
      await waitFor('push that begins', begins, 10_000)
      await repository.git('update-ref', 'refs/heads/main', 'refs/heads/other')
      resolve(undefined)
    }
    const meanwhile = async (repository: GitRepository): Promise<void> => {
      await repository.commit('other', { 'b.md': 'b' }, 'Another history')
      await repository.commit('main', { 'c.md': 'c' })
      void rewrite(repository)
    }
    const options = { branches: ['other'] }
    t.match(await attempt('git binary', options, { before: meanwhile, fault }), {
      pushed: { kind: 'race' },
      landed: false,
    })
  },
)
