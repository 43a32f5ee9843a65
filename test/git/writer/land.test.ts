import t from 'tap'
import type { Change, FileChange } from '../../../functions/domain/commit/change.ts'
import { unlessAborted } from '../../../functions/domain/deadline.ts'
import { asFailure, Failure } from '../../../functions/domain/failure.ts'
import { movedMeanwhile } from '../../../functions/git/branch.ts'
import type { NewCommit, Pushed, Remote } from '../../../functions/git/remote.ts'
import { land } from '../../../functions/git/writer/land.ts'
import type { PendingChange } from '../../../functions/git/writer/pending-change.ts'
import type { RoundReport } from '../../../functions/git/writer/round.ts'
import { ROUNDS } from '../../../functions/git/writer/work.ts'
import { changeOf, endingsOf, patience, pending } from '../stage.ts'
import { memoryRepository, URL, type MemoryRepository } from './memory-remote.ts'

const HOUR_MS = 3_600_000

/** Lands the changes as one batch; returns how each ended. */
function landAll(
  repository: MemoryRepository,
  changes: readonly Change[],
  signals: readonly AbortSignal[] = [],
) {
  const batch = changes.map((change, i) => pending(change, signals[i]))
  return endingsOf(batch, land(repository.open(), { batch, signal: patience() }))
}

function changesAt(paths: readonly string[]): readonly Change[] {
  return paths.map((path) => changeOf(URL, path))
}

/** The outcomes or reasons. */
function inShort(endings: Awaited<ReturnType<typeof landAll>>): readonly (string | undefined)[] {
  return endings.map((ending) => (ending instanceof Failure ? ending.reason : ending?.outcome))
}

function refusal(says: string, each: boolean): Pushed {
  return { kind: 'refused', failure: new Failure('PushRejected', says), each }
}

/** A server that rejects each push with a commit that writes such a path. */
function refusing(path: RegExp): (commits: readonly NewCommit[]) => Pushed | undefined {
  const bad = (commit: NewCommit) => commit.files.some((file) => path.test(file.path))
  return (commits) => (commits.some(bad) ? refusal('No such paths.', true) : undefined)
}

t.test('many changes are as many commits in one push, in their order', async (t) => {
  const repository = memoryRepository()
  const changes = Array.from({ length: 100 }, (_, i) => changeOf(URL, `dir-${i % 7}/${i}.md`))
  const endings = await landAll(repository, changes)
  t.equal(repository.pushes, 1)
  t.equal(repository.log().length, 101)
  t.same(endings.at(-1), { outcome: 'pushed', sha: repository.tip(), branch: 'main' })
  t.equal(new Set(endings.map((ending) => (ending instanceof Failure ? '' : ending?.sha))).size, 100)
})

t.test('content that another change of the batch adds is present once that one is committed', async (t) => {
  const repository = memoryRepository()
  const changes = ['a.md', 'a.md'].map((path) => changeOf(URL, path, { text: 'same' }))
  const sha = () => repository.tip()
  t.same(await landAll(repository, changes), [
    { outcome: 'pushed', sha: sha(), branch: 'main' },
    { outcome: 'unchanged', sha: sha(), branch: 'main' },
  ])
})

t.test('content that is there already makes no push', async (t) => {
  const repository = memoryRepository({ 'a.md': 'same' })
  t.same(await landAll(repository, [changeOf(URL, 'a.md', { text: 'same' })]), [
    { outcome: 'unchanged', sha: repository.tip(), branch: 'main' },
  ])
  t.equal(repository.pushes, 0)
})

t.test('a path that cannot be written fails alone', async (t) => {
  const repository = memoryRepository({
    file: 'x',
    'dir/a.md': 'x',
    link: { mode: '120000', content: 'dir' },
  })
  const paths = ['good/1.md', 'file/below', 'link/b.md', 'dir', 'good/1.md/below', 'good/2.md']
  t.same(inShort(await landAll(repository, changesAt(paths))), [
    'pushed',
    'PathConflict',
    'PathConflict',
    'PathConflict',
    'PathConflict',
    'pushed',
  ])
  t.equal(repository.pushes, 1)
})

t.test('a commit that the server rejects fails alone, its neighbours land', async (t) => {
  const repository = memoryRepository()
  repository.onPush = refusing(/^bad/)
  const paths = ['1', '2', 'bad/3', '4', '5', '6', '7']
  t.same(
    inShort(await landAll(repository, changesAt(paths))),
    paths.map((path) => (path.startsWith('bad') ? 'PushRejected' : 'pushed')),
  )
  t.equal(repository.log().length, 7)
})

t.test('a change that only conflicted with a rejected neighbour lands', async (t) => {
  const repository = memoryRepository()
  repository.onPush = refusing(/^dir$/)
  t.same(inShort(await landAll(repository, changesAt(['dir', 'dir/a.md']))), ['PushRejected', 'pushed'])
})

t.test('a branch that rejects everything rejects a batch with one push', async (t) => {
  const repository = memoryRepository()
  repository.onPush = () => refusal('The branch is protected.', false)
  const endings = await landAll(repository, changesAt(['a', 'b', 'c', 'd']))
  for (const ending of endings) t.match(ending, { reason: 'PushRejected' })
  t.equal(repository.pushes, 1)
})

t.test('a change whose answer was lost is found in history, below later commits of others', async (t) => {
  const repository = memoryRepository()
  const since = new Date(Date.now() - HOUR_MS)
  const [again, other] = changesAt(['a.md', 'b.md']).map((change) => ({ ...change, since }))
  if (again === undefined || other === undefined) throw new Error('Two were made')
  const sha = repository.commit({ 'a.md': 'x' }, { message: again.message })
  repository.commit({ 'a.md': 'by another' })
  t.match(await landAll(repository, [again, other]), [{ outcome: 'found', sha }, { outcome: 'pushed' }])
  t.equal(repository.pushes, 1)
  t.ok(repository.holds('a.md', 'by another'))
})

t.test('an earlier attempt that lands between read and push is found, and not made again', async (t) => {
  const repository = memoryRepository()
  const change = { ...changeOf(URL, 'a.md'), since: new Date(Date.now() - HOUR_MS) }
  repository.onPush = () => {
    repository.onPush = () => undefined
    repository.commit({ 'a.md': 'as it was then' }, { message: change.message })
    return undefined
  }
  t.match(await landAll(repository, [change]), [{ outcome: 'found', sha: repository.tip() }])
  t.same(repository.log(), ['Write a.md', 'Begin'])
})

t.test('a push that lands late is found, whatever was said in place of its answer', async (t) => {
  const failure = new Failure('PushRejected', 'Words, and no report.')
  const answers: readonly Pushed[] = [
    { kind: 'refused', failure, each: true, late: true },
    { kind: 'race', late: true },
    { kind: 'race', late: true, unless: failure },
  ]
  for (const answer of answers) {
    const repository = memoryRepository()
    let landLate: (() => void) | undefined
    repository.onPush = (_commits, { land: landNow }) => {
      if (landLate !== undefined) return undefined
      landLate = landNow
      return answer
    }
    repository.onRead = () => {
      if (landLate === undefined || repository.log().length > 1) return undefined
      landLate()
      repository.commit({ 'a.md': 'by another' })
      return undefined
    }
    const changes = ['a.md', 'b.md'].map((path) => changeOf(URL, path))
    t.same(inShort(await landAll(repository, changes)), ['found', 'found'], JSON.stringify(answer))
    t.same(repository.log(), ['Another writer was here', 'Write b.md', 'Write a.md', 'Begin'])
  }
})

t.test('a push of unknown outcome is looked up until the change is settled', async (t) => {
  const repository = memoryRepository()
  const change = changeOf(URL, 'a.md')
  const pushes: (() => Pushed | undefined)[] = [
    () => {
      repository.commit({ 'b.md': 'by another' }, { message: 'Other' })
      return { kind: 'unknown' }
    },
    // Only now does the server apply the first push.
    () => {
      repository.commit({ 'a.md': 'as it was then' }, { message: change.message })
      return undefined
    },
  ]
  repository.onPush = () => pushes.shift()?.()
  t.match(await landAll(repository, [change]), [{ outcome: 'found', sha: repository.tip() }])
  t.same(repository.log(), ['Write a.md', 'Other', 'Begin'])
})

t.test('a branch that moves between read and push is followed', async (t) => {
  const repository = memoryRepository()
  repository.onPush = () => {
    repository.onPush = () => undefined
    repository.commit({ 'a.md': 'by another', 'b.md': 'x' })
    return undefined
  }
  t.match(await landAll(repository, changesAt(['a.md'])), [{ outcome: 'pushed' }])
  t.same(repository.log(), ['Write a.md', 'Another writer was here', 'Begin'])
})

t.test('a failure of the remote fails all changes, without a retry', async (t) => {
  const repository = memoryRepository()
  let reads = 0
  repository.onRead = () => {
    reads += 1
    throw new Failure('ProviderUnavailable', 'Later.', { retryAfterSeconds: 7 })
  }
  for (const ending of await landAll(repository, changesAt(['a', 'b'])))
    t.match(ending, { reason: 'ProviderUnavailable', retryAfterSeconds: 7 })
  t.equal(reads, 1)
})

t.test('a change whose caller has stopped waiting is left out', async (t) => {
  const repository = memoryRepository()
  const changes = changesAt(['a', 'b'])
  t.match(await landAll(repository, changes, [AbortSignal.abort()]), [undefined, { outcome: 'pushed' }])
  t.same(repository.log(), ['Write b', 'Begin'])
})

t.test('a change that has landed is reported before the others have', async (t) => {
  const repository = memoryRepository()
  repository.onPush = refusing(/^bad$/)
  const batch = changesAt(['a', 'b', 'bad', 'c']).map((change) => pending(change))
  const progress = land(repository.open(), { batch, signal: patience() })
  const { value } = await progress.next()
  t.same([...(value ?? new Map()).keys()], batch.slice(0, 2))
  t.same(repository.log(), ['Write b', 'Write a', 'Begin'])
  t.same(inShort(await endingsOf(batch, progress)), [undefined, undefined, 'PushRejected', 'pushed'])
})

/** A change of several files, each with its own path as content unless said otherwise. */
function changeFor(paths: readonly string[], more: Partial<Change> = {}): Change {
  const files = paths.map((path) => ({ path, content: Buffer.from(path) }))
  return changeOf(URL, paths.join(' and '), { files, ...more })
}

t.test('several files are one commit, of those that differ', async (t) => {
  const repository = memoryRepository({ a: 'a', b: 'old' })
  t.match(await landAll(repository, [changeFor(['a', 'b', 'c/d'])]), [{ outcome: 'pushed' }])
  t.same(repository.log(), ['Write a and b and c/d', 'Begin'])
  t.same(repository.paths(repository.tip() ?? ''), ['b', 'c/d'])
})

t.test('several files that are all there make no commit', async (t) => {
  const repository = memoryRepository({ a: 'a', b: 'b' })
  t.match(await landAll(repository, [changeFor(['a', 'b'])]), [
    { outcome: 'unchanged', sha: repository.tip() },
  ])
  t.equal(repository.pushes, 0)
})

t.test(
  'a change of which one path is in conflict fails with all its files, its neighbours land',
  async (t) => {
    const repository = memoryRepository({ file: 'x' })
    const changes = [changeFor(['a', 'file/below']), changeFor(['a', 'b'])]
    t.same(inShort(await landAll(repository, changes)), ['PathConflict', 'pushed'])
    t.same(repository.paths(repository.tip() ?? ''), ['a', 'b'])
  },
)

t.test('two changes of a batch that write the same paths are two commits, in order', async (t) => {
  const repository = memoryRepository()
  const changes = [
    changeFor(['a', 'b']),
    changeFor(['b', 'c'], { files: [write('b', 'later'), write('c', 'c')] }),
  ]
  t.same(inShort(await landAll(repository, changes)), ['pushed', 'pushed'])
  t.ok(repository.holds('b', 'later'))
  t.ok(repository.holds('a', 'a'))
  t.same(repository.log(), ['Write b and c', 'Write a and b', 'Begin'])
})

t.test('a change is found by a commit that changes one of its paths', async (t) => {
  const repository = memoryRepository({ a: 'a' })
  const change = changeFor(['a', 'b'], { since: new Date(0) })
  const sha = repository.commit({ b: 'b' }, { message: change.message })
  repository.commit({ b: 'by another' })
  t.match(await landAll(repository, [change]), [{ outcome: 'found', sha }])
})

function write(path: string, text: string): FileChange {
  return { path, content: Buffer.from(text) }
}

t.test('a lost race is told, and for a contended branch the tip is read first', async (t) => {
  const repository = memoryRepository()
  repository.remembered = repository.tip()
  const first = repository.commit({ 'other.md': 'moved' })
  const rounds: RoundReport[] = []
  const roundEnded = (round: RoundReport): unknown => rounds.push(round)
  async function landOne(path: string, contended: boolean): Promise<void> {
    const batch = [pending(changeOf(URL, path))]
    await endingsOf(batch, land(repository.open(), { batch, signal: patience(), contended, roundEnded }))
  }
  await landOne('a.md', true)
  const second = repository.tip()
  t.match(rounds.splice(0), [{ tip: first, head: second, raced: false }])
  await landOne('b.md', false)
  t.match(rounds, [
    { tip: undefined, head: undefined, raced: true },
    { tip: second, head: repository.tip(), raced: false },
  ])
  t.ok(rounds.every(({ milliseconds }) => milliseconds >= 0))
  t.equal(repository.pushes, 3)
})

/** Lands one change; its first pushes meet these answers, and before the next round others come, each once. */
async function landWith(answers: readonly Pushed[], others: readonly PendingChange[]) {
  const repository = memoryRepository()
  const left = [...answers]
  repository.onPush = () => left.shift()
  const waiting = [...others]
  const batches: (readonly PendingChange[])[] = []
  const batch = [pending(changeOf(URL, 'first'))]
  const join = (of: readonly PendingChange[]) => {
    batches.push(of)
    return waiting.splice(0)
  }
  const landing = land(repository.open(), { batch, signal: patience(), join })
  const endings = await endingsOf([...batch, ...others], landing)
  return { repository, endings, batches, batch }
}

t.test('a batch that has lost a race takes up what has come meanwhile, in order', async (t) => {
  const others = ['second', 'third'].map((path) => pending(changeOf(URL, path)))
  const { repository, endings, batches, batch } = await landWith([{ kind: 'race' }, { kind: 'race' }], others)
  t.same(inShort(endings), ['pushed', 'pushed', 'pushed'])
  t.same(repository.log(), ['Write third', 'Write second', 'Write first', 'Begin'])
  t.equal(repository.pushes, 3)
  t.same(batches, [batch, [...batch, ...others]])
})

t.test('who joins has not lost the race: its claim is not confirmed afresh', async (t) => {
  const confirmed: boolean[] = []
  const confirm = async (afresh = false) => void confirmed.push(afresh)
  const claim = { confirm, remaining: () => 25_000 }
  const other = { ...pending(changeOf(URL, 'other')), claim }
  await landWith([{ kind: 'race' }], [other])
  t.same(confirmed, [false])
})

t.test('nobody joins a push that may have been refused, nor halves of a refused one', async (t) => {
  const other = pending(changeOf(URL, 'other'))
  const failure = new Failure('PushRejected', 'No.')
  const suspect = await landWith([{ kind: 'race', unless: failure }], [other])
  t.same(inShort(suspect.endings), ['PushRejected', undefined])
  t.same(suspect.batches, [])
  const race = { kind: 'race' } as const
  const others = ['second', 'third'].map((path) => pending(changeOf(URL, path)))
  const halved = await landWith([race, refusal('No.', true), race, race], others)
  t.same(inShort(halved.endings), ['pushed', 'pushed', 'pushed'])
  t.equal(halved.batches.length, 1)
})

t.test('a session that has to end while it pauses says why', async (t) => {
  const repository = memoryRepository()
  const ending = new AbortController()
  const gaveWay = new Failure('Timeout', 'It gave way.')
  repository.onPush = () => {
    ending.abort(gaveWay)
    return { kind: 'race' }
  }
  const batch = changesAt(['a']).map((change) => pending(change))
  t.same(await endingsOf(batch, land(repository.open(), { batch, signal: ending.signal })), [gaveWay])
})

t.test('a file that the branch names and the server does not have fails alone', async (t) => {
  for (const namespaces of [
    ['a', 'b', 'c'],
    ['a', 'a', 'a'],
  ]) {
    const repository = memoryRepository({ broken: 'x' })
    let reads = 0
    const remote = {
      ...repository.open(),
      readBlobs: () => {
        reads += 1
        return Promise.reject(movedMeanwhile(URL))
      },
    }
    const files = [{ path: 'broken', edit: () => Buffer.from('y') }]
    const changes = [changeOf(URL, 'broken', { files }), ...changesAt(['1', '2'])]
    const batch = changes.map((change, i) => pending({ ...change, namespace: namespaces[i] ?? '' }))
    const ended = await endingsOf(batch, land(remote, { batch, signal: patience() }))
    t.same(inShort(ended), ['Conflict', 'pushed', 'pushed'])
    t.ok(reads <= 5, `${reads} times`)
  }
})

t.test('what is left for the next push has lost no race by that', async (t) => {
  const repository = memoryRepository({ a: '0' })
  const edit = (before: Uint8Array): Uint8Array => Buffer.from(String(Number(Buffer.from(before)) + 1))
  // A push makes edits of 8 MiB.
  const files = [{ path: 'a', edit, keeps: 5 * 1024 * 1024 }]
  const changes = Array.from({ length: ROUNDS + 2 }, () => changeOf(URL, 'a', { files }))
  t.same(
    inShort(await landAll(repository, changes)),
    changes.map(() => 'pushed'),
  )
  t.same([repository.pushes, repository.text('a')], [ROUNDS + 2, String(ROUNDS + 2)])
})

t.test('a session that has to end waits for no edit and for no claim', async (t) => {
  const never = new Promise<never>(() => undefined)
  const gaveWay = new Failure('Timeout', 'It gave way.')
  for (const awaited of ['an edit', 'a claim']) {
    const repository = memoryRepository({ a: '0\n' })
    const ending = new AbortController()
    const begin = (): Promise<never> => {
      ending.abort(gaveWay)
      return never
    }
    const file = awaited === 'an edit' ? { path: 'a', edit: begin } : { path: 'a', content: Buffer.from('1') }
    const change = changeOf(URL, 'a', { files: [file] })
    const batch = [{ ...pending(change), claim: { confirm: begin, remaining: () => 1 } }]
    const remote = { ...repository.open(), signal: ending.signal }
    const signal = patience()
    const ended = unlessAborted(endingsOf(batch, land(remote, { batch, signal })), signal).catch(asFailure)
    t.same(await ended, [gaveWay], awaited)
    t.equal(repository.pushes, 0)
  }
})

t.test('each part of a push that was refused waits for a turn of the branch', async (t) => {
  const repository = memoryRepository()
  repository.onPush = refusing(/bad/)
  const batch = changesAt(['good', 'bad', 'fine', 'better']).map((change) => pending(change))
  const asked: number[] = []
  const landing = { batch, signal: patience(), turnAgain: async () => void asked.push(repository.pushes) }
  t.same(inShort(await endingsOf(batch, land(repository.open(), landing))), [
    'pushed',
    'PushRejected',
    'pushed',
    'pushed',
  ])
  t.same(asked, [1, 2, 3, 4])
})

t.test('each change fails after as many rounds of its own, whenever it has joined', async (t) => {
  const races = Array.from({ length: ROUNDS }, () => ({ kind: 'race' }) as const)
  const { repository, endings } = await landWith(races, [pending(changeOf(URL, 'other'))])
  t.same(inShort(endings), ['Conflict', 'pushed'])
  t.equal(repository.pushes, ROUNDS + 1)
})

/** Adds a line to a file. */
function adding(path: string, line: string): Change {
  const edit = (before: Uint8Array) => Buffer.concat([before, Buffer.from(`${line}\n`)])
  return changeOf(URL, `${path} ${line}`, { files: [{ path, edit }] })
}

t.test('two edits of one file in one push both hold, after one reading', async (t) => {
  const repository = memoryRepository({ a: '0\n' })
  t.same(inShort(await landAll(repository, [adding('a', '1'), adding('a', '2')])), ['pushed', 'pushed'])
  t.equal(repository.text('a'), '0\n1\n2\n')
  t.equal(repository.pushes, 1)
  t.match(repository.reads, { length: 1 })
})

t.test('edits whose files are too large to be read together are read, and pushed, in parts', async (t) => {
  const paths = ['a', 'b', 'c', 'd', 'e']
  const repository = memoryRepository(Object.fromEntries(paths.map((path) => [path, `${path}\n`])))
  const remote = repository.open()
  const few: Remote = {
    ...remote,
    async readBlobs(tip, oids, most) {
      if (oids.length > 2) throw new Failure('NotSupported', 'They are too large.', { retry: 'slow' })
      return remote.readBlobs(tip, oids, most)
    },
  }
  const wide = changeOf(URL, 'wide', { files: paths.slice(0, 3).flatMap((path) => adding(path, 'x').files) })
  const batch = [wide, ...paths.map((path) => adding(path, '1'))].map((change) => pending(change))
  const endings = await endingsOf(batch, land(few, { batch, signal: patience() }))
  t.same(inShort(endings), ['NotSupported', ...paths.map(() => 'pushed')])
})

t.test('an edit is made again on what another writer has pushed meanwhile', async (t) => {
  const repository = memoryRepository({ a: '0\n' })
  repository.onPush = () => {
    repository.onPush = () => undefined
    repository.commit({ a: 'by another\n' })
    return undefined
  }
  t.same(inShort(await landAll(repository, [adding('a', '1'), adding('a', '2')])), ['pushed', 'pushed'])
  t.equal(repository.text('a'), 'by another\n1\n2\n')
})

t.test('an edit whose neighbour before it is rejected is made without that one', async (t) => {
  const repository = memoryRepository({ a: '0\n', b: '0\n' })
  const bad = changeOf(URL, 'both', { files: [...adding('a', 'bad').files, ...adding('b', 'bad').files] })
  repository.onPush = refusing(/^b$/)
  t.same(inShort(await landAll(repository, [adding('a', '1'), bad, adding('a', '2')])), [
    'pushed',
    'PushRejected',
    'pushed',
  ])
  t.equal(repository.text('a'), '0\n1\n2\n')
})

const REMOVED = changeOf(URL, 'a', { files: [{ path: 'a' }] })

t.test('an edit and a removal need no question for the tip where it is remembered', async (t) => {
  for (const [change, after] of [
    [adding('a', '1'), '0\n1\n'],
    [REMOVED, undefined],
  ] as const) {
    const repository = memoryRepository({ a: '0\n' })
    repository.remembered = repository.tip()
    repository.onRead = () => {
      t.fail('the server was asked')
      return undefined
    }
    t.same(inShort(await landAll(repository, [change])), ['pushed'])
    t.equal(repository.text('a'), after)
  }
})

t.test('where the remembered tip is old, they are made again on what is there', async (t) => {
  for (const [change, after] of [
    [adding('a', '1'), 'by another\n1\n'],
    [REMOVED, undefined],
  ] as const) {
    const repository = memoryRepository({ a: '0\n' })
    repository.remembered = repository.tip()
    repository.commit({ a: 'by another\n' })
    t.same(inShort(await landAll(repository, [change])), ['pushed'])
    t.equal(repository.pushes, 2)
    t.equal(repository.text('a'), after)
  }
})

t.test('a file that a remembered tip does not have is looked for on the real one', async (t) => {
  const repository = memoryRepository({ b: '0\n' })
  repository.remembered = repository.tip()
  repository.commit({ a: '0\n' })
  t.same(inShort(await landAll(repository, [adding('a', '1')])), ['pushed'])
  t.equal(repository.text('a'), '0\n1\n')
})

t.test('a file takes the place of a directory that the change before it has emptied', async (t) => {
  const repository = memoryRepository({ 'a/b': '0' })
  const removal = changeOf(URL, 'a/b', { files: [{ path: 'a/b' }] })
  t.same(inShort(await landAll(repository, [removal, changeOf(URL, 'a', { text: 'x' })])), [
    'pushed',
    'pushed',
  ])
  t.equal(repository.text('a'), 'x')
})

t.test('edits that are more than one push makes are made in the next ones, in their order', async (t) => {
  const repository = memoryRepository({ a: `${'x'.repeat(2_000_000)}\n` })
  const lines = ['1', '2', '3', '4', '5']
  const endings = await landAll(
    repository,
    lines.map((line) => adding('a', line)),
  )
  t.same(inShort(endings), Array(5).fill('pushed'))
  t.equal(repository.text('a')?.slice(-10), '1\n2\n3\n4\n5\n')
})

t.test('files that cannot be read fail the changes that edit them alone', async (t) => {
  const repository = memoryRepository({ a: '0\n' })
  const batch = [adding('a', '1'), changeOf(URL, 'b')].map((change) => pending(change))
  const broken = new Failure('NetworkError', 'It is gone.')
  const remote = { ...repository.open(), readBlobs: () => Promise.reject(broken) }
  const endings = await endingsOf(batch, land(remote, { batch, signal: patience() }))
  t.same(inShort(endings), ['NetworkError', 'pushed'])
})

t.test(
  'what cannot be made fails alone, but where a push fails with an error nothing is pushed again',
  async (t) => {
    const failure = new Failure('CredentialsInvalid', 'It does not sign.')
    const isBad = (commit: NewCommit): boolean => commit.files.some(({ path }) => path === 'bad')
    for (const [where, outcomes, pushes] of [
      ['writeCommits', ['pushed', 'CredentialsInvalid', 'pushed'], 2],
      ['push', Array(3).fill('CredentialsInvalid'), 1],
    ] as const) {
      const repository = memoryRepository()
      const remote = repository.open()
      let pushed = 0
      const failing: Remote = {
        ...remote,
        writeCommits: (tip, commits) =>
          where === 'writeCommits' && commits.some(isBad)
            ? Promise.reject(failure)
            : remote.writeCommits(tip, commits),
        push(tip, head) {
          pushed += 1
          return where === 'push' ? Promise.reject(failure) : remote.push(tip, head)
        },
      }
      const batch = changesAt(['a', 'bad', 'b']).map((change) => pending(change))
      const endings = await endingsOf(batch, land(failing, { batch, signal: patience() }))
      t.same(inShort(endings), outcomes)
      t.equal(pushed, pushes)
    }
  },
)
