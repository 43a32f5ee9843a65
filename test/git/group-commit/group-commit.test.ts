import t from 'tap'
import type { Edit } from '../../../functions/domain/commit/change.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { BATCH_LENGTH } from '../../../functions/git/group-commit/queue/push-size.ts'
import type { Batch } from '../../../functions/git/group-commit/batch.ts'
import type { Remote } from '../../../functions/git/remote.ts'
import { makeGroupCommit, type GroupCommitParts } from '../../../functions/git/group-commit/group-commit.ts'
import { SHARED_EDITS_MS } from '../../../functions/git/writer/edit-patience.ts'
import { land } from '../../../functions/git/writer/land.ts'
import type { Settled } from '../../../functions/git/writer/pending-change.ts'
import { memoryRepository } from '../writer/memory-remote.ts'
import { waitFor } from '../../harness/wait.ts'
import { addressOf, changeOf, loginOf, outcomeOf, pathOf, until } from '../stage.ts'

const URL = 'https://git.example.com/acme/shop.git'
const LOGIN = loginOf('a')
const NEVER = new AbortController().signal

/** Lets the group commit start its next batch. */
function nextBatch(): Promise<void> {
  return new Promise(setImmediate)
}

/** The first change has been started, the others come after it. */
async function pushed<T>(
  push: (path: string) => Promise<T>,
  paths: readonly string[],
): Promise<Promise<T>[]> {
  const [first = '', ...others] = paths
  const started = push(first)
  await nextBatch()
  return [started, ...others.map(push)]
}

/** A group commit whose batches end when the test says so. */
function slowGroupCommit(parts: Partial<GroupCommitParts> = {}) {
  const batches: (Batch & { end(): void })[] = []
  async function* land(batch: Batch): AsyncGenerator<Settled> {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    batches.push({ ...batch, end: () => resolve(undefined) })
    await promise
    yield allLanded(batch)
  }
  const groupCommit = makeGroupCommit({ land, ...parts })
  const paths = () => batches.map(({ changes }) => changes.map(({ change }) => pathOf(change)))
  return { groupCommit, batches, paths }
}

function allLanded({ changes }: Batch): Settled {
  return new Map(
    changes.map((one) => [one, { outcome: 'pushed', sha: pathOf(one.change), branch: 'main' }] as const),
  )
}

t.test('changes that arrive during a batch go into the next one, in order', async (t) => {
  const { groupCommit, batches, paths } = slowGroupCommit()
  const push = (path: string) => groupCommit.push(changeOf(URL, path), LOGIN, NEVER)
  const work = await pushed(push, ['a', 'b', 'c'])
  t.same(paths(), [['a']])
  batches[0]?.end()
  await work[0]
  await nextBatch()
  t.same(paths(), [['a'], ['b', 'c']])
  batches[1]?.end()
  t.same(
    (await Promise.all(work)).map(({ sha }) => sha),
    ['a', 'b', 'c'],
  )
  await groupCommit.idle()
})

t.test('a push takes the changes of the namespaces in turns, by what each takes', async (t) => {
  const { groupCommit, batches } = slowGroupCommit()
  const login = { ...LOGIN, ofOperator: true as const }
  const taken = (): string[] => (batches.at(-1)?.changes ?? []).map(({ change }) => change.namespace)
  const push = (namespace: string, paths: readonly string[]): Promise<unknown> => {
    const files = paths.map((path) => ({ path, content: Buffer.from(path) }))
    return groupCommit.push(changeOf(URL, 'a', { namespace, files }), login, NEVER)
  }
  const long = Array.from({ length: 100 }, (_, i) => `${'d'.repeat(990)}/${i}`)
  const work = [push('first', ['a'])]
  await nextBatch()
  for (let i = 0; i < 6; i += 1) work.push(push('evil', long))
  for (const namespace of ['one', 'one', 'two', 'one', 'three']) work.push(push(namespace, [namespace]))
  const rounds: string[][] = []
  for (let i = 0; i < 4; i += 1) {
    const count = batches.length
    rounds.push(taken())
    batches.at(-1)?.end()
    if (i < 3) await until('the next push', () => Promise.resolve(batches.length > count))
  }
  const others = ['one', 'two', 'three', 'one', 'one']
  t.same(rounds, [['first'], ['evil', ...others, 'evil'], ['evil', 'evil'], ['evil', 'evil']])
  await Promise.all(work)
})

t.test('a branch has turns whatever its address and its name are written as', async (t) => {
  const spellings: readonly (readonly [string, string | undefined])[] = [
    ['https://git.example.com/acme/shop', 'main'],
    ['https://git.example.com/Acme/Shop.git', 'main'],
    ['https://git.example.com/acme/SHOP', undefined],
    [URL, undefined],
  ]
  const { groupCommit, batches } = slowGroupCommit()
  const push = (url: string, branch: string | undefined) =>
    groupCommit.push(changeOf(url, 'a', { branch, namespace: 'evil' }), LOGIN, NEVER)
  const learnt = push(URL, undefined)
  await nextBatch()
  batches[0]?.end()
  await learnt
  const work = [
    groupCommit.push(changeOf(URL, 'first', { branch: 'main' }), LOGIN, NEVER),
    ...spellings.map(([url, branch]) => push(url, branch)),
  ]
  await nextBatch()
  t.equal(batches.length, 2, 'one push at a time')
  const other = push('https://git.example.com:8443/acme/shop.git', 'main')
  await nextBatch()
  t.equal(batches.length, 3, 'that of another place waits for none of them')
  for (let i = 1; i < 3 + spellings.length; i += 1) {
    await until('the next push', () => Promise.resolve(batches.length > i))
    batches[i]?.end()
  }
  await Promise.all([...work, other])
})

t.test('others wait for the claim of one namespace for a moment, and then land without it', async (t) => {
  const repository = memoryRepository({ 'a.md': 'a' })
  const groupCommit = makeGroupCommit({
    land: (batch) => land(repository.open(), { ...batch, batch: batch.changes }),
  })
  const login = { ...LOGIN, ofOperator: true as const }
  const late = new Failure('Conflict', 'The claim could not be renewed in time.')
  const within: (number | undefined)[] = []
  // Its writes wait for those of large resources of its namespace.
  const confirm = (_afresh?: boolean, withinMs?: number): Promise<void> => {
    within.push(withinMs)
    return withinMs === undefined ? Promise.resolve() : Promise.reject(late)
  }
  const claim = { confirm, remaining: () => 25_000 }
  const slow = (path: string) =>
    groupCommit.push(changeOf(URL, path, { namespace: 'evil', branch: 'main' }), login, NEVER, { claim })
  const first = slow('evil/1.md').catch((error: unknown) => error)
  const own = groupCommit.push(changeOf(URL, 'own.md', { branch: 'main' }), login, NEVER)
  t.equal(await first, late)
  t.match(await own, { outcome: 'pushed' })
  t.match(await slow('evil/2.md'), { outcome: 'pushed' })
  t.same(within, [2_000, undefined], 'later ones push by themselves, and take their time')
  const alone = groupCommit.push(changeOf(URL, 'c.md', { branch: 'main' }), LOGIN, NEVER, { claim })
  t.match(await alone, { outcome: 'pushed' }, 'nobody else waits for the push of a login of its own')
  await groupCommit.idle()
})

t.test('a batch keeps the secrets of each of its changes', async (t) => {
  const { groupCommit, batches } = slowGroupCommit()
  const push = (secret: string) =>
    groupCommit.push(changeOf(URL, secret), { ...LOGIN, secrets: [secret, 'shared'] }, NEVER)
  const work = await pushed(push, ['first', 'second', 'third'])
  batches[0]?.end()
  await work[0]
  await nextBatch()
  batches[1]?.end()
  await Promise.all(work)
  t.same(
    batches.map(({ login }) => login.secrets),
    [
      ['first', 'shared'],
      ['second', 'shared', 'third'],
    ],
  )
})

t.test('another repository or branch does not wait', async (t) => {
  const { groupCommit, batches, paths } = slowGroupCommit()
  const work = [
    groupCommit.push(changeOf(URL, 'a'), LOGIN, NEVER),
    groupCommit.push(changeOf('https://git.example.com/acme/other.git', 'b'), LOGIN, NEVER),
    groupCommit.push(changeOf(URL, 'c', { branch: 'next' }), LOGIN, NEVER),
    groupCommit.push(changeOf(URL, 'd', { branch: undefined }), LOGIN, NEVER),
  ]
  await nextBatch()
  t.same(paths(), [['a'], ['b'], ['c'], ['d']])
  for (const batch of batches) batch.end()
  await Promise.all(work)
})

t.test('another login to the same branch waits for the push', async (t) => {
  const { groupCommit, batches, paths } = slowGroupCommit()
  const work = ['a', 'b'].map((login) => groupCommit.push(changeOf(URL, login), loginOf(login), NEVER))
  await nextBatch()
  t.same(paths(), [['a']])
  batches[0]?.end()
  await work[0]
  await waitFor('the second', () => (batches.length > 1 ? true : undefined), 10_000)
  t.same(paths(), [['a'], ['b']])
  batches[1]?.end()
  await Promise.all(work)
})

const sign = () => Promise.resolve('')
const ALONE = [
  [
    'nobody waits for the slow signatures of another namespace that shares the login',
    { signer: { isSlow: true, sign } },
  ],
  [
    'nobody waits for keys of Secrets of another namespace that shares the login',
    { signer: { ofSecret: true as const, sign } },
  ],
  [
    'nobody waits for the searches of retries of another namespace that shares the login',
    { since: new Date() },
  ],
  [
    'nobody waits for commits by the API of another namespace that shares the login',
    { commitByAPI: () => Promise.reject(new Error('not called')) },
  ],
] as const

for (const [title, alone] of ALONE)
  t.test(title, async (t) => {
    const { groupCommit, batches, paths } = slowGroupCommit()
    const push = (namespace: string, path: string, change = {}) =>
      groupCommit.push(changeOf(URL, path, { namespace, ...change }), LOGIN, NEVER)
    const first = push('shop', 'first')
    await nextBatch()
    const work = [
      push('evil', 'a', alone),
      push('shop', 'c'),
      push('evil', 'b', alone),
      push('market', 'd', { signer: { isSlow: false, sign } }),
    ]
    batches[0]?.end()
    await first
    const ending = { over: false }
    const all = Promise.all(work).finally(() => (ending.over = true))
    for (let at = 1; !ending.over; at += 1) {
      const next = await waitFor('the next batch', () => (ending.over ? 'none' : batches[at]), 10_000)
      if (next !== 'none') next.end()
      await nextBatch()
    }
    await all
    t.ok(
      paths().some((batch) => batch.join() === 'c,d'),
      JSON.stringify(paths()),
    )
    t.notOk(
      paths().some((batch) => /[ab]/.test(batch.join()) && /[cd]/.test(batch.join())),
      JSON.stringify(paths()),
    )
  })

/** A group commit on a repository in memory, of whose remote some functions are replaced, and its outcomes or reasons. */
function groupCommitOn(replaced: (remote: Remote) => Partial<Remote>, edit?: Edit) {
  const repository = memoryRepository({ first: '', a: '', b: '', huge: '' })
  async function* landBatch({ changes, ...batch }: Batch): AsyncGenerator<Settled> {
    const remote = repository.open()
    yield* land({ ...remote, ...replaced(remote) }, { ...batch, batch: changes })
  }
  const groupCommit = makeGroupCommit({ land: landBatch })
  const filesOf = (path: string) => (edit === undefined ? {} : { files: [{ path, edit }] })
  return (namespace: string, path: string, signal = NEVER): Promise<string> =>
    groupCommit.push(changeOf(URL, path, { namespace, ...filesOf(path) }), LOGIN, signal).then(
      ({ outcome }) => outcome,
      (error: unknown) => (error instanceof Failure ? error.reason : 'a bug'),
    )
}

t.test('changes that are given up keep none of another namespace from its push', async (t) => {
  const leaving = Array.from({ length: 30 }, () => new AbortController())
  let written = 0
  const push = groupCommitOn((remote) => ({
    writeCommits(tip, commits) {
      written += 1
      if (commits.length > 1) leaving.shift()?.abort()
      return remote.writeCommits(tip, commits)
    },
  }))
  const first = push('shop', 'first')
  await nextBatch()
  const gone = leaving.map(({ signal }, i) => push('evil', `evil ${i}`, signal))
  t.equal(await push('shop', 'good'), 'pushed')
  await first
  t.ok(written <= 5, `written ${written} times`)
  for (const one of leaving) one.abort()
  await Promise.all(gone)
})

t.test('a push that is refused as a whole fails none of another namespace', async (t) => {
  const failure = new Failure('PushRejected', 'The repository is archived.')
  const push = groupCommitOn((remote) => {
    let isBad = false
    return {
      writeCommits(tip, commits) {
        isBad = commits.some(({ files }) => files.some(({ path }) => path === 'archived/a'))
        return remote.writeCommits(tip, commits)
      },
      push: (tip, head, remaining) =>
        isBad
          ? Promise.resolve({ kind: 'refused', failure, each: false })
          : remote.push(tip, head, remaining),
    }
  })
  const first = push('shop', 'first')
  await nextBatch()
  const outcomes = Promise.all([push('shop', 'a'), push('evil', 'archived/a'), push('market', 'b')])
  t.same(await outcomes, ['pushed', 'PushRejected', 'pushed'])
  await first
})

t.test('what is refused in words is refused again of each namespace, whatever they say', async (t) => {
  for (const reason of ['PermissionDenied', 'ProviderUnavailable', 'RepositoryNotFound'] as const) {
    const failure = new Failure(reason, 'A hook may have said so.')
    const push = groupCommitOn((remote) => {
      let isBad = false
      return {
        writeCommits(tip, commits) {
          isBad = commits.some(({ files }) => files.some(({ path }) => path === 'evil'))
          return remote.writeCommits(tip, commits)
        },
        push: (tip, head, remaining) =>
          isBad
            ? Promise.resolve({ kind: 'refused', failure, each: false, said: true })
            : remote.push(tip, head, remaining),
      }
    })
    const first = push('shop', 'first')
    await nextBatch()
    const outcomes = Promise.all([push('shop', 'a'), push('evil', 'evil'), push('market', 'b')])
    t.same(await outcomes, ['pushed', reason, 'pushed'])
    await first
  }
})

t.test(
  'a commit at which the server ends fails its own namespace alone, and the next one no other push',
  async (t) => {
    const failure = new Failure('NetworkError', 'The connection was closed.')
    const pushes: string[] = []
    let late: (() => Promise<unknown>) | undefined
    const push = groupCommitOn((remote) => {
      let paths: readonly string[] = []
      return {
        writeCommits(tip, commits) {
          paths = commits.flatMap(({ files }) => files.map(({ path }) => path))
          return remote.writeCommits(tip, commits)
        },
        push(tip, head, remaining) {
          pushes.push(paths.join())
          if (paths.every((path) => !path.startsWith('evil'))) return remote.push(tip, head, remaining)
          late ??= () => remote.push(tip, head)
          return Promise.resolve({ kind: 'refused', failure, each: false, late: true })
        },
      }
    })
    const first = push('shop', 'first')
    await nextBatch()
    const outcomes = Promise.all([push('shop', 'a'), push('evil', 'evil 1'), push('market', 'b')])
    t.same(await outcomes, ['pushed', 'NetworkError', 'pushed'])
    t.same(await late?.(), { kind: 'race' }, 'and the one without an answer cannot land any more')
    await first
    pushes.length = 0
    const next = Promise.all([push('shop', 'c'), push('evil', 'evil 2'), push('market', 'd')])
    t.same(await next, ['pushed', 'NetworkError', 'pushed'])
    t.same(pushes.sort(), ['c,d', 'evil 2'])
  },
)

t.test('a push without an answer that lands late is found, and not made again', async (t) => {
  const repository = memoryRepository()
  const failure = new Failure('NetworkError', 'The connection was closed.')
  const lost: (() => void)[] = []
  repository.onPush = (commits, { land }) => {
    if (lost.length > 0 || commits.length < 3) return undefined
    lost.push(land)
    return { kind: 'refused', failure, each: false, late: true }
  }
  repository.onRead = () => {
    for (const land of lost) land()
    return undefined
  }
  async function* landBatch({ changes, ...batch }: Batch): AsyncGenerator<Settled> {
    yield* land(repository.open(), { ...batch, batch: changes })
  }
  const groupCommit = makeGroupCommit({ land: landBatch })
  const push = (namespace: string) =>
    groupCommit.push(changeOf(URL, namespace, { namespace }), LOGIN, NEVER).then(({ outcome }) => outcome)
  const first = push('first')
  await nextBatch()
  const work = Promise.all(['shop', 'market', 'kitchen'].map(push))
  t.same([await first, ...(await work)], ['pushed', 'found', 'found', 'found'])
  t.same(repository.log(), ['Write kitchen', 'Write market', 'Write shop', 'Write first', 'Begin'])
})

t.test('where a push took all of the time, its namespaces push by themselves later', async (t) => {
  const failure = new Failure('Timeout', 'The time was over.')
  let isOver = false
  const pushes: number[] = []
  const push = groupCommitOn((remote) => {
    let count = 0
    return {
      writeCommits(tip, commits) {
        count = commits.length
        return remote.writeCommits(tip, commits)
      },
      push(tip, head, remaining) {
        pushes.push(count)
        if (count < 3 || isOver) return remote.push(tip, head, remaining)
        isOver = true
        return Promise.reject(failure)
      },
    }
  })
  const all = () =>
    ['shop', 'evil', 'market'].map((namespace) => push(namespace, `${namespace} ${pushes.length}`))
  const first = push('shop', 'first')
  await nextBatch()
  t.same(await Promise.all(all()), ['Timeout', 'Timeout', 'Timeout'])
  t.same(await Promise.all(all()), ['pushed', 'pushed', 'pushed'])
  await first
  t.same(pushes, [1, 3, 1, 1, 1])
})

const addingLine: Edit = (before) => Buffer.concat([before, Buffer.from('more\n')])

t.test('a session that may fetch no more fails none of another namespace', async (t) => {
  const limit = new Failure('NotSupported', 'One attempt fetches more than that.')
  const push = groupCommitOn((remote) => {
    let isSpent = false
    return {
      readTree(tip, paths) {
        isSpent ||= paths.includes('huge')
        return remote.readTree(tip, paths)
      },
      readBlobs: (tip, oids, most) => (isSpent ? Promise.reject(limit) : remote.readBlobs(tip, oids, most)),
    }
  }, addingLine)
  const first = push('shop', 'first')
  await nextBatch()
  const outcomes = Promise.all([push('shop', 'a'), push('evil', 'huge'), push('market', 'b')])
  t.same(await outcomes, ['pushed', 'NotSupported', 'pushed'])
  await first
})

t.test('a limit that one namespace has used up ends no commit of another that has lost a race', async (t) => {
  const limit = new Failure('NotSupported', 'One attempt fetches more than that.')
  for (const spends of ['tip', 'tree'] as const) {
    let races = 0
    const push = groupCommitOn((remote) => {
      let isSpent = false
      return {
        readTip: (wanted) =>
          isSpent && wanted.fresh === true && spends === 'tip'
            ? Promise.reject(limit)
            : remote.readTip(wanted),
        readTree(tip, paths) {
          if (isSpent && races > 0 && spends === 'tree') return Promise.reject(limit)
          isSpent ||= paths.includes('huge')
          return remote.readTree(tip, paths)
        },
        push(tip, head, remaining) {
          if (!isSpent || races > 0) return remote.push(tip, head, remaining)
          races += 1
          return Promise.resolve({ kind: 'race' })
        },
      }
    })
    const all = () => Promise.all([push('shop', 'a'), push('evil', 'huge'), push('market', 'b')])
    const first = push('shop', 'first')
    await nextBatch()
    t.same(await all(), ['pushed', 'pushed', 'pushed'], 'each by itself')
    t.equal(races, 1)
    await first
  }
})

t.test(
  'edits that take long keep no other namespace waiting, and the next one is pushed apart',
  async (t) => {
    const { promise: over, resolve } = Promise.withResolvers<undefined>()
    const repository = memoryRepository({ first: '', a: '', b: '', large: '', 'large 2': '' })
    const pushes: string[] = []
    repository.onPush = (commits) => {
      pushes.push(commits.flatMap(({ files }) => files.map(({ path }) => path)).join())
      return undefined
    }
    async function* landBatch({ changes, ...batch }: Batch): AsyncGenerator<Settled> {
      yield* land(repository.open(), { ...batch, batch: changes })
    }
    const groupCommit = makeGroupCommit({ land: landBatch })
    function push(namespace: string, path: string): Promise<string> {
      const edit: Edit = async (before) => {
        if (path.startsWith('large')) await over
        return addingLine(before)
      }
      return groupCommit
        .push(changeOf(URL, path, { namespace, files: [{ path, edit }] }), LOGIN, NEVER)
        .then(({ outcome }) => outcome)
    }
    const first = push('shop', 'first')
    await nextBatch()
    const slow = push('evil', 'large')
    t.same(await Promise.all([push('shop', 'a'), push('market', 'b')]), ['pushed', 'pushed'])
    const slowToo = push('evil', 'large 2')
    const began = performance.now()
    t.equal(await push('shop', 'a'), 'pushed')
    t.ok(performance.now() - began < SHARED_EDITS_MS, 'and waits for nothing')
    resolve(undefined)
    t.same([await slow, await slowToo, await first], ['pushed', 'pushed', 'pushed'])
    t.same(pushes.slice(0, 3), ['first', 'a,b', 'a'])
  },
)

t.test('many edits of one change are always pushed by their own namespace', async (t) => {
  const { groupCommit, paths, batches } = slowGroupCommit()
  const push = (namespace: string, count: number) => {
    const files = Array.from({ length: count }, (_, i) => ({ path: `${namespace} ${i}`, edit: addingLine }))
    return groupCommit.push(changeOf(URL, '', { namespace, files }), LOGIN, NEVER)
  }
  const work = [push('shop', 8), push('evil', 9), push('market', 8)]
  for (const i of [0, 1]) (await waitFor('the next push', () => batches[i], 5_000)).end()
  await Promise.all(work)
  t.same(paths(), [['shop 0', 'market 0'], ['evil 0']])
})

t.test('of one namespace, a push that others share reads a few files whose fields are set', async (t) => {
  const { groupCommit, paths, batches } = slowGroupCommit()
  const login = { ...LOGIN, ofOperator: true as const }
  const push = (namespace: string, name: string, edited: number) => {
    const files = Array.from({ length: edited }, (_, i) => ({ path: `${name} ${i}`, edit: addingLine }))
    return groupCommit.push(
      changeOf(URL, name, { namespace, ...(edited === 0 ? {} : { files }) }),
      login,
      NEVER,
    )
  }
  const first = push('shop', 'first', 0)
  await nextBatch()
  const work = [
    first,
    push('evil', 'a', 4),
    push('evil', 'b', 4),
    push('evil', 'b', 4),
    push('evil', 'c', 1),
    push('evil', 'd', 0),
    push('market', 'e', 8),
  ]
  for (const i of [0, 1, 2]) (await waitFor('the next push', () => batches[i], 5_000)).end()
  await Promise.all(work)
  t.same(paths()[0], ['first'])
  t.same(paths().slice(1).toSorted(), [['a 0', 'e 0', 'b 0', 'b 0', 'd'], ['c 0']])
})

t.test('a change that cannot be made fails none of another namespace', async (t) => {
  for (const reason of ['Internal', 'NotSupported'] as const) {
    const push = groupCommitOn((remote) => ({
      writeCommits(tip, commits) {
        const isHuge = commits.some(({ files }) => files.some(({ path }) => path === 'huge'))
        if (isHuge) throw new Failure(reason, 'It is too large.')
        return remote.writeCommits(tip, commits)
      },
    }))
    const first = push('shop', 'first')
    await nextBatch()
    const outcomes = Promise.all([push('shop', 'a'), push('evil', 'huge'), push('market', 'b')])
    t.same(await outcomes, ['pushed', reason, 'pushed'])
    await first
  }
})

t.test('a login that has pushed to the branch waits for none that never has', async (t) => {
  const { promise: end, resolve } = Promise.withResolvers<undefined>()
  async function* land(batch: Batch): AsyncGenerator<Settled> {
    const head = batch.changes.map(({ change }) => pathOf(change)).join()
    if (head.startsWith('stranger')) await end
    else
      batch.roundEnded({
        tip: 'tip',
        head,
        raced: false,
        refused: false,
        milliseconds: 1,
        namespaces: new Set(['shop']),
      })
    yield allLanded(batch)
  }
  const groupCommit = makeGroupCommit({ land })
  const push = (path: string, login: string) => groupCommit.push(changeOf(URL, path), loginOf(login), NEVER)
  await push('first', 'shop')
  const strangers = Array.from({ length: 5 }, (_, i) => push(`stranger ${i}`, `stranger ${i}`))
  const began = performance.now()
  await push('second', 'shop')
  t.ok(performance.now() - began < 1_500, 'without a turn of the strangers')
  resolve(undefined)
  await Promise.all(strangers)
})

t.test('a login whose namespace has no session keeps no other one from the branch', async (t) => {
  const waiting: PromiseWithResolvers<() => void>[] = []
  const { groupCommit, batches, paths } = slowGroupCommit({
    acquire({ namespace }) {
      if (namespace === 'shop') return Promise.resolve(() => undefined)
      const place = Promise.withResolvers<() => void>()
      waiting.push(place)
      return place.promise
    },
  })
  const push = (namespace: string) =>
    groupCommit.push(changeOf(URL, namespace, { namespace }), loginOf(namespace), NEVER)
  const evil = push('evil')
  await nextBatch()
  const began = performance.now()
  const shop = push('shop')
  await waitFor('the batch', () => batches[0], 5_000)
  t.ok(performance.now() - began < 1_500, 'without all of its turn')
  batches[0]?.end()
  await shop
  for (const { resolve } of waiting) resolve(() => undefined)
  await waitFor('the next batch', () => batches[1], 5_000)
  batches[1]?.end()
  await evil
  t.same(paths(), [['shop'], ['evil']])
})

t.test(
  'a batch that waits for its session gives its turn to another login, and takes one again',
  async (t) => {
    const { groupCommit, batches, paths } = slowGroupCommit()
    const push = (namespace: string) =>
      groupCommit.push(changeOf(URL, namespace, { namespace }), loginOf(namespace), NEVER)
    const work = [push('shop')]
    await waitFor('the batch', () => batches[0], 5_000)
    work.push(push('other'))
    await nextBatch()
    t.same(paths(), [['shop']], 'it waits for the turn')
    batches[0]?.endTurn()
    await waitFor('the other batch', () => batches[1], 5_000)
    const seen: string[] = []
    const again = batches[0]?.takeTurn(['shop'], NEVER).then(() => seen.push('again'))
    await nextBatch()
    t.same(seen, [])
    seen.push('end')
    batches[1]?.end()
    await again
    t.same(seen, ['end', 'again'])
    batches[0]?.end()
    await Promise.all(work)
  },
)

t.test('changes of several namespaces wait for the session of whichever gets one first', async (t) => {
  const asked: string[] = []
  const given: string[] = []
  const back: string[] = []
  const places = new Set(['shop'])
  const { groupCommit, batches } = slowGroupCommit({
    acquire({ namespace }, signal) {
      asked.push(namespace)
      if (places.has(namespace)) return Promise.resolve(() => void back.push(namespace))
      const { promise, reject } = Promise.withResolvers<never>()
      signal.addEventListener('abort', () => {
        given.push(namespace)
        reject(new Error('Given up.'))
      })
      return promise
    },
  })
  const push = (namespace: string) => groupCommit.push(changeOf(URL, namespace, { namespace }), LOGIN, NEVER)
  const evil = push('evil')
  await nextBatch()
  t.same([asked, batches.length], [['evil'], 0])
  const work = [evil, push('evil'), push('shop')]
  await waitFor('the batch', () => batches[0], 5_000)
  t.same(asked, ['evil', 'shop'])
  t.same(
    batches[0]?.changes.map(({ change }) => change.namespace),
    ['evil', 'shop', 'evil'],
  )
  t.equal(batches[0]?.namespace, 'shop', 'whose session it is')
  batches[0]?.end()
  await Promise.all(work)
  await groupCommit.idle()
  t.same([given, back], [['evil'], ['shop']])
})

t.test('a shared login has the turn of whichever of its namespaces is next', async (t) => {
  const { groupCommit, batches, paths } = slowGroupCommit()
  const push = (namespace: string, path: string, login: string) =>
    groupCommit.push(changeOf(URL, path, { namespace }), loginOf(login), NEVER)
  const own = ['1', '2', '3'].map((login) => push('evil', login, login))
  await nextBatch()
  const shared = [push('evil', 'first', 'default')]
  await nextBatch()
  shared.push(push('shop', 'second', 'default'))
  for (let i = 0; i < 4; i += 1) {
    const batch = await waitFor('the next batch', () => batches[i], 5_000)
    await nextBatch()
    batch.end()
  }
  await Promise.all([...own, ...shared])
  t.same(paths(), [['1'], ['first', 'second'], ['2'], ['3']])
})

t.test(
  'of two sessions that are given at once, one is given back, and a failure counts once all have failed',
  async (t) => {
    const held = new Set<string>()
    const lacking = new Set(['market'])
    const { groupCommit, batches } = slowGroupCommit({
      async acquire({ namespace }) {
        await Promise.resolve()
        if (lacking.has(namespace)) throw new Failure('Conflict', `Nothing for ${namespace}.`)
        held.add(namespace)
        return () => void held.delete(namespace)
      },
    })
    const push = (namespace: string) =>
      groupCommit.push(changeOf(URL, namespace, { namespace }), LOGIN, NEVER)
    const work = ['market', 'shop', 'kitchen'].map(push)
    await waitFor('the batch', () => batches[0], 5_000)
    t.same([...held], ['shop'])
    batches[0]?.end()
    await Promise.all(work)
    for (const namespace of ['shop', 'kitchen']) lacking.add(namespace)
    for (const failing of ['market', 'shop'].map(push)) await t.rejects(failing, { message: /^Nothing for/ })
    await groupCommit.idle()
    t.same([...held], [])
  },
)

t.test('a refused commit that an earlier push may still make is not pushed by itself', async (t) => {
  const repository = memoryRepository()
  let late: (() => void) | undefined
  let refusals = 3
  repository.onPush = ([commit], { land }) => {
    if (commit?.message.startsWith('Write first') === true) return undefined
    if (late === undefined) {
      late = land
      return { kind: 'unknown' }
    }
    refusals -= 1
    const failure = new Failure('PushRejected', 'No.')
    return refusals < 0 ? undefined : { kind: 'refused', failure, each: true }
  }
  async function* landBatch({ changes, ...batch }: Batch): AsyncGenerator<Settled> {
    yield* land(repository.open(), { ...batch, batch: changes })
    if (repository.pushes !== 5) return
    // The push of unknown outcome is carried out late, and then somebody else writes.
    late?.()
    repository.commit({ evil: 'by another' })
  }
  const groupCommit = makeGroupCommit({ land: landBatch })
  const push = (namespace: string, path: string): Promise<unknown> =>
    groupCommit.push(changeOf(URL, path, { namespace }), LOGIN, NEVER).catch(() => undefined)
  const [first] = await pushed((path) => push('shop', path), ['first'])
  await first
  await Promise.all([push('evil', 'evil'), push('shop', 'good')])
  const evil = repository.log().filter((subject) => subject === 'Write evil')
  t.ok(evil.length <= 1, `${evil.length} times`)
})

t.test('where others write to the branch, a push gathers changes, and reads the tip first', async (t) => {
  const batches: Batch[] = []
  async function* land(batch: Batch): AsyncGenerator<Settled> {
    batches.push(batch)
    const [tip, head] = [`tip ${batches.length}`, `head ${batches.length}`]
    batch.roundEnded({
      tip,
      head,
      raced: false,
      refused: false,
      milliseconds: 100,
      namespaces: new Set(['shop']),
    })
    yield allLanded(batch)
  }
  const groupCommit = makeGroupCommit({ land })
  const push = (path: string) => groupCommit.push(changeOf(URL, path), LOGIN, NEVER)
  await push('first')
  await push('second')
  const third = push('third')
  await nextBatch()
  await Promise.all([third, push('fourth')])
  t.same(
    batches.map(({ changes, contended }) => [changes.length, contended]),
    [
      [1, false],
      [1, false],
      [2, true],
    ],
  )
})

/** A batch that is built again when the test says so; the results of its changes, and what the batches held. */
function joinable() {
  const { promise: again, resolve } = Promise.withResolvers<undefined>()
  const batches: string[][] = []
  async function* land(batch: Batch): AsyncGenerator<Settled> {
    await again
    const more = batch.join(batch.changes)
    const changes = [...batch.changes, ...more]
    batches.push(changes.map(({ change }) => pathOf(change)))
    yield allLanded({ ...batch, changes })
  }
  return { groupCommit: makeGroupCommit({ land }), again: () => resolve(undefined), batches }
}

t.test('a batch that is built again takes up what waits, and each caller gets its own result', async (t) => {
  const { groupCommit, again, batches } = joinable()
  const work = await pushed((path) => groupCommit.push(changeOf(URL, path), LOGIN, NEVER), ['a', 'b', 'c'])
  again()
  t.same(
    (await Promise.all(work)).map(({ sha }) => sha),
    ['a', 'b', 'c'],
  )
  t.same(batches, [['a', 'b', 'c']])
  await groupCommit.idle()
})

t.test(
  'who does not fit into the push, or has secrets that it does not mask, waits for the next one',
  async (t) => {
    const { groupCommit, again, batches } = joinable()
    const half = new Uint8Array(40 * 1024 * 1024)
    const large = changeOf(URL, 'large', { files: [{ path: 'large', content: half }] })
    const others = [
      { change: changeOf(URL, 'b'), secrets: LOGIN.secrets },
      { change: changeOf(URL, 'c'), secrets: [...LOGIN.secrets, 'another'] },
      { change: large, secrets: LOGIN.secrets },
      { change: large, secrets: LOGIN.secrets },
      { change: changeOf(URL, 'again', { since: new Date() }), secrets: LOGIN.secrets },
    ]
    const first = groupCommit.push(changeOf(URL, 'a'), LOGIN, NEVER)
    await nextBatch()
    const work = others.map(({ change, secrets }) => groupCommit.push(change, { ...LOGIN, secrets }, NEVER))
    again()
    await Promise.all([first, ...work])
    t.same(batches, [['a', 'b'], ['again'], ['c', 'large'], ['large']])
  },
)

t.test('a batch goes on while a caller waits who has joined it', async (t) => {
  const abort = new AbortController()
  const { promise: come, resolve: goOn } = Promise.withResolvers<undefined>()
  const { promise: joined, resolve } = Promise.withResolvers<number>()
  const { promise: end, resolve: finish } = Promise.withResolvers<undefined>()
  const signals: AbortSignal[] = []
  async function* land(batch: Batch): AsyncGenerator<Settled> {
    signals.push(batch.signal)
    await come
    const more = batch.join(batch.changes)
    resolve(more.length)
    await end
    yield allLanded({ ...batch, changes: more })
  }
  const groupCommit = makeGroupCommit({ land })
  const gone = outcomeOf(groupCommit.push(changeOf(URL, 'gone'), LOGIN, abort.signal))
  await nextBatch()
  const late = new AbortController()
  const other = outcomeOf(groupCommit.push(changeOf(URL, 'other'), LOGIN, late.signal))
  goOn(undefined)
  t.equal(await joined, 1)
  abort.abort()
  t.match(await gone, { reason: 'Timeout' })
  t.same(
    signals.map(({ aborted }) => aborted),
    [false],
  )
  late.abort()
  t.match(await other, { reason: 'Timeout' })
  t.ok(signals[0]?.aborted)
  finish(undefined)
  await groupCommit.idle()
})

t.test('a batch is limited: by number, by bytes, and where history has to be searched', async (t) => {
  const { groupCommit, batches } = slowGroupCommit()
  const half = new Uint8Array(20 * 1024 * 1024)
  const large = changeOf(URL, 'large', { files: ['a', 'b'].map((path) => ({ path, content: half })) })
  const changes = [
    changeOf(URL, 'first'),
    ...Array.from({ length: BATCH_LENGTH + 1 }, (_, i) => changeOf(URL, String(i))),
    large,
    large,
    changeOf(URL, 'again', { since: new Date() }),
    changeOf(URL, 'last'),
  ]
  const work = changes.map((change) => groupCommit.push(change, LOGIN, NEVER))
  for (let i = 0; i < 4; i++) {
    await nextBatch()
    batches[i]?.end()
  }
  await Promise.all(work)
  t.same(
    batches.map(({ changes }) => changes.length),
    [BATCH_LENGTH, 1, 3, 2],
  )
})

t.test('a batch has paths of 256 Ki characters together, or one change', async (t) => {
  const { groupCommit, batches } = slowGroupCommit()
  const ofPaths = (length: number, count = 100) => {
    const content = new Uint8Array(1)
    const files = Array.from({ length: count }, (_, i) => ({ path: `${i}`.padEnd(length, '/a'), content }))
    return changeOf(URL, 'deep', { files })
  }
  const deep = Array.from({ length: 5 }, () => ofPaths(1_024))
  const changes = [changeOf(URL, 'first'), ...deep, ofPaths(1_024, 1_000), changeOf(URL, 'last')]
  const work = changes.map((change) => groupCommit.push(change, LOGIN, NEVER))
  for (let i = 0; i < 6; i++) {
    await nextBatch()
    batches[i]?.end()
  }
  await Promise.all(work)
  t.same(
    batches.map(({ changes }) => changes.length),
    [1 + 2, 2, 1, 1, 1],
  )
})

t.test('a batch that throws fails its own changes alone, and the next one goes', async (t) => {
  let landed = 0
  async function* land(batch: Batch): AsyncGenerator<Settled> {
    landed += 1
    if (landed === 1) throw new TypeError('a bug')
    yield allLanded(batch)
  }
  const groupCommit = makeGroupCommit({ land })
  const push = (path: string) => outcomeOf(groupCommit.push(changeOf(URL, path), LOGIN, NEVER))
  const work = await pushed(push, ['a', 'b'])
  t.match(await work[0], { reason: 'Internal' })
  t.match(await work[1], { outcome: 'pushed' })
  t.match(
    await groupCommit.push(changeOf(URL, 'c'), LOGIN, NEVER),
    { outcome: 'pushed' },
    'a later push starts',
  )
  await groupCommit.idle()
})

t.test('a settled change is reported at once, and one that is not settled at the end fails', async (t) => {
  const rest = Promise.withResolvers<undefined>()
  async function* land(batch: Batch): AsyncGenerator<Settled> {
    yield allLanded({ ...batch, changes: batch.changes.slice(0, 1) })
    await rest.promise
  }
  const groupCommit = makeGroupCommit({ land })
  const work = ['a', 'b'].map((path) => outcomeOf(groupCommit.push(changeOf(URL, path), LOGIN, NEVER)))
  t.match(await work[0], { outcome: 'pushed' })
  rest.resolve(undefined)
  t.match(await work[1], { reason: 'Internal' })
  await groupCommit.idle()
})

t.test('a waiting change whose time is over fails alone and is never started', async (t) => {
  const { groupCommit, batches } = slowGroupCommit()
  const abort = new AbortController()
  const first = groupCommit.push(changeOf(URL, 'a'), LOGIN, NEVER)
  await nextBatch()
  const gone = groupCommit.push(changeOf(URL, 'b'), LOGIN, abort.signal)
  abort.abort()
  t.match(await outcomeOf(gone), { reason: 'Timeout', message: /The time for one attempt was over/ })
  batches[0]?.end()
  await first
  await groupCommit.idle()
  t.equal(batches.length, 1)
})

t.test('a batch goes on while a caller waits for it, and ends with the last one', async (t) => {
  const { groupCommit, batches } = slowGroupCommit()
  const [one, two] = [new AbortController(), new AbortController()]
  const first = groupCommit.push(changeOf(URL, 'a'), LOGIN, NEVER)
  await nextBatch()
  const work = [one, two].map(({ signal }) => outcomeOf(groupCommit.push(changeOf(URL, 'b'), LOGIN, signal)))
  batches[0]?.end()
  await first
  await nextBatch()
  one.abort()
  t.match(await work[0], { reason: 'Timeout' })
  t.notOk(batches[1]?.signal.aborted)
  two.abort()
  t.ok(batches[1]?.signal.aborted)
  batches[1]?.end()
  await Promise.all(work)
})

t.test('a signal that has already fired ends the wait, with its own reason', async (t) => {
  const { groupCommit, batches } = slowGroupCommit()
  const reason = new Failure('Conflict', 'Because.')
  t.equal(await outcomeOf(groupCommit.push(changeOf(URL, 'a'), LOGIN, AbortSignal.abort(reason))), reason)
  t.equal(batches.length, 0)
})

const TARGET = { repository: addressOf(URL), branch: 'main', namespace: 'shop' }

t.test('a push waits for a change that is on its way to the same branch, and for no other', async (t) => {
  const { groupCommit, batches, paths } = slowGroupCommit()
  const arrived = groupCommit.expect(TARGET)
  groupCommit.expect({ ...TARGET, branch: 'next' })
  const work = [groupCommit.push(changeOf(URL, 'a'), LOGIN, NEVER)]
  await nextBatch()
  t.same(paths(), [])
  arrived()
  arrived()
  work.push(groupCommit.push(changeOf(URL, 'b'), LOGIN, NEVER))
  await nextBatch()
  t.same(paths(), [['a', 'b']])
  batches[0]?.end()
  await Promise.all(work)
})

t.test('nobody waits for the changes of another namespace that are on their way', async (t) => {
  const { groupCommit, batches, paths } = slowGroupCommit()
  groupCommit.expect({ ...TARGET, namespace: 'other' })
  const alone = groupCommit.push(changeOf(URL, 'a'), LOGIN, NEVER)
  await nextBatch()
  t.same(paths(), [['a']])
  batches[0]?.end()
  await alone
  const push = (path: string, namespace: string) =>
    groupCommit.push(changeOf(URL, path, { namespace }), LOGIN, NEVER)
  const work = [push('b', 'other')]
  await nextBatch()
  t.same(paths(), [['a']], 'of its own they are waited for')
  work.push(push('c', 'shop'))
  await nextBatch()
  t.same(paths(), [['a'], ['b', 'c']])
  batches[1]?.end()
  await Promise.all(work)
})

t.test('a push does not wait for a change that does not come, nor where nobody waits any more', async (t) => {
  const { groupCommit, batches, paths } = slowGroupCommit()
  const never = groupCommit.expect(TARGET)
  const abort = new AbortController()
  const gone = outcomeOf(groupCommit.push(changeOf(URL, 'gone'), LOGIN, abort.signal))
  abort.abort()
  t.match(await gone, { reason: 'Timeout' })
  await groupCommit.idle()
  t.same(paths(), [])
  const work = groupCommit.push(changeOf(URL, 'a'), LOGIN, NEVER)
  await until('push', async () => batches.length > 0, 5_000)
  batches[0]?.end()
  await work
  never()
})

t.test(
  'what comes while a batch waits for its session is in it, and a batch that nobody waits for has none',
  async (t) => {
    const waiting: (() => void)[] = []
    let held = 0
    const acquire: GroupCommitParts['acquire'] = ({ address, namespace }, signal) => {
      t.same([address, namespace], [addressOf(URL), 'shop'])
      const { promise, resolve, reject } = Promise.withResolvers<() => void>()
      signal.addEventListener('abort', () => reject(new Error('given up')))
      waiting.push(() => {
        held += 1
        resolve(() => void (held -= 1))
      })
      return promise
    }
    const { groupCommit, batches, paths } = slowGroupCommit({ acquire })
    const abort = new AbortController()
    const gone = outcomeOf(groupCommit.push(changeOf(URL, 'gone'), LOGIN, abort.signal))
    await nextBatch()
    abort.abort()
    const work = ['a', 'b'].map((path) => groupCommit.push(changeOf(URL, path), LOGIN, NEVER))
    t.match(await gone, { reason: 'Timeout' })
    await nextBatch()
    t.equal(waiting.length, 2, 'who came later has not been given up')
    waiting[1]?.()
    await nextBatch()
    t.same(paths(), [['a', 'b']])
    t.equal(held, 1)
    batches[0]?.end()
    await Promise.all(work)
    await groupCommit.idle()
    t.equal(held, 0)
  },
)

t.test('a batch ends when nobody waits for what is left of it, whatever has landed before', async (t) => {
  const abort = new AbortController()
  const ended: unknown[] = []
  async function* land(batch: Batch): AsyncGenerator<Settled> {
    yield allLanded({ ...batch, changes: batch.changes.slice(0, 1) })
    t.notOk(batch.signal.aborted)
    await new Promise((resolve) => batch.signal.addEventListener('abort', resolve))
    ended.push(batch.signal.aborted)
  }
  const groupCommit = makeGroupCommit({ land })
  const landed = groupCommit.push(changeOf(URL, 'a'), LOGIN, NEVER)
  const gone = outcomeOf(groupCommit.push(changeOf(URL, 'b'), LOGIN, abort.signal))
  t.match(await landed, { outcome: 'pushed' })
  await nextBatch()
  abort.abort()
  t.match(await gone, { reason: 'Timeout' })
  await groupCommit.idle()
  t.same(ended, [true])
})

t.test('changes of a namespace that is kept apart do not join the push that goes on', async (t) => {
  const { groupCommit, batches, paths } = slowGroupCommit()
  const push = (namespace: string, path: string) =>
    groupCommit.push(changeOf(URL, path, { namespace }), LOGIN, NEVER)
  const all = [push('shop', 'first')]
  await nextBatch()
  all.push(push('evil', 'a'), push('shop', 'b'))
  await nextBatch()
  batches[0]?.end()
  const batch = await waitFor('the shared push', () => batches[1], 5_000)
  t.same(paths(), [['first'], ['a', 'b']])
  all.push(push('evil', 'c'), push('shop', 'd'))
  const ended = Promise.allSettled(all)
  await nextBatch()
  batch.keepApart(batch.changes.filter(({ change }) => change.namespace === 'evil'))
  const joined = batch.join(batch.changes)
  t.same(
    joined.map(({ change }) => pathOf(change)),
    ['d'],
  )
  batch.end()
  const apart = await waitFor('the push of the other one', () => batches[2], 5_000)
  t.same(paths()[2], ['c'])
  apart.end()
  // What has joined has no result here.
  t.same(
    (await ended).map(({ status }) => status === 'fulfilled'),
    [true, true, true, true, false],
  )
})

t.test('a push whose files are edited first gives its turn away after a while', async (t) => {
  const { groupCommit, batches, paths } = slowGroupCommit()
  const push = (namespace: string, edits: boolean) => {
    const edit: Edit = async (before) => before
    const files = edits ? { files: [{ path: namespace, edit }] } : {}
    return groupCommit.push(changeOf(URL, namespace, { namespace, ...files }), loginOf(namespace), NEVER)
  }
  const edited = push('evil', true)
  await waitFor('the first push', () => batches[0], 5_000)
  const began = performance.now()
  const other = push('shop', false)
  const second = await waitFor('the other push', () => batches[1], 5_000)
  t.ok(performance.now() - began < 1_500, 'before the end of a usual turn')
  t.same(paths(), [['evil'], ['shop']])
  second.end()
  batches[0]?.end()
  t.equal((await Promise.all([edited, other])).length, 2)
})
