import t from 'tap'
import { searchedInAttemptFrom } from '../../../functions/domain/commit/clock-margin.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { movedMeanwhile } from '../../../functions/git/branch.ts'
import type { Remote } from '../../../functions/git/remote.ts'
import type { Settled } from '../../../functions/git/writer/pending-change.ts'
import { writeRound } from '../../../functions/git/writer/round.ts'
import { ROUNDS, type Work } from '../../../functions/git/writer/work.ts'
import { changeOf, pending } from '../stage.ts'
import { memoryRepository, URL, type MemoryFiles, type MemoryRepository } from './memory-remote.ts'

const REFUSAL = new Failure('PushRejected', 'No.')

function workFor(paths: readonly string[], more: Partial<Work> = {}): Work {
  return { batch: paths.map((path) => pending(changeOf(URL, path))), doubts: new Map(), rounds: 0, ...more }
}

interface Progress {
  readonly settled: Settled
  readonly rest: readonly Work[]
}

/** A whole round: all that it settles, and what it leaves. */
async function roundOf(remote: Remote, work: Work): Promise<Progress> {
  const settled = new Map()
  const round = writeRound(remote, work)
  for (;;) {
    const { value, done } = await round.next()
    if (done === true) return { settled, rest: value }
    for (const [pending, ending] of value) settled.set(pending, ending)
  }
}

/** What a round leaves, in short. */
function shapeOf(rest: readonly Work[]) {
  return rest.map(({ batch, rounds }) => [batch.map(({ change }) => changePaths(change)), rounds])
}

function changePaths({ message }: { readonly message: string }): string {
  return message.split('\n')[0]?.replace('Write ', '') ?? ''
}

t.test('a round that lands leaves no change', async (t) => {
  const work = workFor(['a', 'b'])
  const { settled, rest } = await roundOf(memoryRepository().open(), work)
  t.same([...settled.keys()], work.batch)
  t.same(rest, [])
})

t.test('a lost race is another round of all', async (t) => {
  const repository = memoryRepository()
  repository.onPush = () => ({ kind: 'race' })
  const { settled, rest } = await roundOf(repository.open(), workFor(['a', 'b'], { rounds: 3 }))
  t.equal(settled.size, 0)
  t.same(shapeOf(rest), [[['a', 'b'], 4]])
})

t.test('where the remote moves while it is read, the round ends without a push', async (t) => {
  const repository = memoryRepository()
  repository.onRead = () => 'moved'
  const { rest } = await roundOf(repository.open(), workFor(['a']))
  t.same(shapeOf(rest), [[['a'], 1]])
  t.equal(repository.pushes, 0)
})

for (const step of ['readTree', 'readBlobs', 'findLanded', 'writeCommits'] as const)
  t.test(`where the branch is found to have moved at ${step}, another round follows it`, async (t) => {
    const repository = memoryRepository()
    const remote = repository.open()
    const moving = { ...remote, [step]: () => Promise.reject(movedMeanwhile(URL)) }
    const doubtful = pending({ ...changeOf(URL, 'a'), since: new Date(0) })
    const edit = (before: Uint8Array): Uint8Array => Buffer.concat([before, Buffer.from('b')])
    const work = workFor([], {
      batch: [doubtful, pending(changeOf(URL, 'b', { files: [{ path: 'README.md', edit }] }))],
      doubts: new Map([[doubtful, new Date(0)]]),
    })
    const { settled, rest } = await roundOf(moving, work)
    t.same([settled.size, shapeOf(rest), repository.pushes], [0, [[['a', 'b'], 1]], 0])
    t.match(rest, [{ fresh: true }])
    repository.commit({ z: 'x' })
    const again = await roundOf(remote, rest[0] ?? workFor([]))
    t.match([...again.settled.values()], [{ outcome: 'pushed' }, { outcome: 'pushed' }])
  })

t.test('a branch that always moves ends with Conflict after the last round', async (t) => {
  const repository = memoryRepository()
  repository.onPush = () => {
    repository.commit({ b: String(repository.pushes) })
    return undefined
  }
  const endings: unknown[] = []
  for (let work: Work | undefined = workFor(['a']); work !== undefined;) {
    const { settled, rest }: Progress = await roundOf(repository.open(), work)
    endings.push(...settled.values())
    work = rest[0]
  }
  t.match(endings, [{ reason: 'Conflict', message: `${URL} ${ROUNDS} times` }])
  t.equal(repository.pushes, ROUNDS)
})

t.test('rejected commits are split into two halves, a single one fails', async (t) => {
  const repository = memoryRepository()
  repository.onPush = () => ({ kind: 'refused', failure: REFUSAL, each: true })
  const many = await roundOf(repository.open(), workFor(['a', 'b', 'c'], { rounds: 2 }))
  t.equal(many.settled.size, 0)
  t.same(shapeOf(many.rest), [
    [['a'], 0],
    [['b', 'c'], 0],
  ])
  const one = await roundOf(repository.open(), workFor(['a']))
  t.same([...one.settled.values()], [REFUSAL])
  t.same(one.rest, [])
})

t.test('a branch that rejects everything fails all at once', async (t) => {
  const repository = memoryRepository()
  repository.onPush = () => ({ kind: 'refused', failure: REFUSAL, each: false })
  const { settled, rest } = await roundOf(repository.open(), workFor(['a', 'b']))
  t.same([...settled.values()], [REFUSAL, REFUSAL])
  t.same(rest, [])
})

t.test('what looked like a race is a rejection where the tip has not moved', async (t) => {
  const repository = memoryRepository()
  repository.onPush = () => ({ kind: 'race', unless: REFUSAL })
  const remote = repository.open()
  const [next] = (await roundOf(remote, workFor(['a']))).rest
  if (next === undefined) throw new Error('A race leaves a round')
  t.same([...(await roundOf(remote, next)).settled.values()], [REFUSAL])
  t.equal(repository.pushes, 1)
  repository.commit({ b: 'x' })
  t.same(shapeOf((await roundOf(remote, next)).rest), [[['a'], 2]], 'and a race where it has')
})

t.test('after a push of unknown outcome all of its changes are looked up', async (t) => {
  const repository = memoryRepository()
  repository.onPush = (_commits, { land }) => {
    land()
    repository.commit({ z: 'on top' })
    return { kind: 'unknown' }
  }
  const remote = repository.open()
  const [next] = (await roundOf(remote, workFor(['a', 'b']))).rest
  if (next === undefined) throw new Error('It is not known how it ended')
  t.same(
    [...next.doubts.values()],
    next.batch.map(({ date }) => searchedInAttemptFrom(date)),
  )
  const { settled, rest } = await roundOf(remote, next)
  t.match([...settled.values()], [{ outcome: 'found' }, { outcome: 'found' }])
  t.same(rest, [])
  t.equal(repository.pushes, 1)
})

t.test('a push that a proxy sends twice is looked up where others have written over it', async (t) => {
  const repository = memoryRepository()
  repository.onPush = (_commits, { land }) => {
    if (repository.pushes > 1) return undefined
    land()
    repository.commit({ a: 'on top' })
    return { kind: 'race' }
  }
  const batch = ['a', 'a', 'b'].map((path, i) => pending(changeOf(URL, path, { text: `${i}` })))
  const remote = repository.open()
  const [next] = (await roundOf(remote, workFor([], { batch }))).rest
  if (next === undefined) throw new Error('A race leaves a round')
  const [last] = (await roundOf(remote, next)).rest
  if (last === undefined) throw new Error('What is written over is searched for in another round')
  const { settled, rest } = await roundOf(remote, last)
  t.match(
    batch.map((one) => settled.get(one)),
    [{ outcome: 'found' }, { outcome: 'found' }, { outcome: 'found' }],
  )
  t.same(rest, [])
  t.equal(repository.text('a'), 'on top')
  t.equal(repository.pushes, 1)
})

t.test('a change whose caller has stopped waiting is left out', async (t) => {
  const repository = memoryRepository()
  const gone = pending(changeOf(URL, 'a'), AbortSignal.abort())
  t.same(await roundOf(repository.open(), workFor([], { batch: [gone] })), {
    settled: new Map(),
    rest: [],
  })
  const { settled } = await roundOf(
    repository.open(),
    workFor([], { batch: [gone, pending(changeOf(URL, 'b'))] }),
  )
  t.equal(settled.size, 1)
  t.same(repository.log(), ['Write b', 'Begin'])
})

t.test('a change that is found stays found, although the others fail', async (t) => {
  const repository = memoryRepository()
  const found = pending({ ...changeOf(URL, 'a'), since: new Date(0) })
  const other = pending(changeOf(URL, 'b'))
  repository.commit({ a: 'x' }, { message: found.change.message })
  const broken = { ...repository.open(), readTree: () => Promise.reject(REFUSAL) }
  const work = workFor([], { batch: [found, other], doubts: new Map([[found, new Date(0)]]) })
  const { settled } = await roundOf(broken, work)
  t.match(settled.get(found), { outcome: 'found' })
  t.equal(settled.get(other), REFUSAL)
})

t.test(
  'what a later attempt has written while the tip was read is not undone by one that has gone',
  async (t) => {
    const repository = memoryRepository()
    const attempt = new AbortController()
    const gone = pending(changeOf(URL, 'a', { text: 'old' }), attempt.signal)
    const remote = repository.open()
    const slow: Remote = {
      ...remote,
      readTip(wanted) {
        attempt.abort()
        repository.commit({ a: 'new' }, { message: 'Write a again' })
        return remote.readTip(wanted)
      },
    }
    const { settled } = await roundOf(slow, workFor([], { batch: [gone, pending(changeOf(URL, 'b'))] }))
    t.equal(settled.size, 1)
    t.same(repository.log(), ['Write b', 'Write a again', 'Begin'])
  },
)

t.test(
  'nor by one that has gone while the commits were written: the others go in another round',
  async (t) => {
    const repository = memoryRepository()
    const attempt = new AbortController()
    const batch = [pending(changeOf(URL, 'a'), attempt.signal), pending(changeOf(URL, 'b'))]
    const remote = repository.open()
    const slow: Remote = {
      ...remote,
      writeCommits(tip, commits) {
        attempt.abort()
        return remote.writeCommits(tip, commits)
      },
    }
    const [next] = (await roundOf(slow, workFor([], { batch }))).rest
    if (next === undefined) throw new Error('Another round was expected')
    t.equal(repository.pushes, 0)
    t.equal((await roundOf(slow, next)).settled.size, 1)
    t.same(repository.log(), ['Write b', 'Begin'])
  },
)

t.test(
  'a path in conflict, and a commit that is found, are answered before the others are pushed',
  async (t) => {
    const repository = memoryRepository()
    const found = pending({ ...changeOf(URL, 'c'), since: new Date(0) })
    repository.commit({ 'a/b': 'x', c: 'x' }, { message: found.change.message })
    const conflict = pending(changeOf(URL, 'a'))
    const answered: unknown[] = []
    repository.onPush = () => {
      t.match(answered, [{ outcome: 'found' }, { reason: 'PathConflict' }])
      return undefined
    }
    const doubts = new Map([[found, new Date(0)]])
    const batch = [found, conflict, pending(changeOf(URL, 'b'))]
    for await (const settled of writeRound(repository.open(), { batch, doubts, rounds: 0 }))
      answered.push(...settled.values())
    t.equal(repository.pushes, 1)
    t.match(answered.at(-1), { outcome: 'pushed' })
  },
)

t.test('a failure on the way ends the others, and who has ended keeps it', async (t) => {
  const failure = new Failure('Internal', 'Git could not.')
  const broken = { ...memoryRepository({ file: 'x' }).open(), writeCommits: () => Promise.reject(failure) }
  const { settled, rest } = await roundOf(broken, workFor(['a', 'file/below']))
  t.match([...settled.values()], [{ reason: 'PathConflict' }, failure])
  t.same(rest, [])
})

/** A repository whose engine remembers the first tip, and counts how often the server is asked. */
function remembering(files: MemoryFiles) {
  const repository = memoryRepository(files)
  repository.remembered = repository.tip()
  const reads: string[] = []
  repository.onRead = () => void reads.push('read')
  return { repository, reads }
}

t.test('commits alone are pushed on a remembered tip, without a question', async (t) => {
  const { repository, reads } = remembering({ 'README.md': 'x' })
  const work = workFor(['a', 'b'])
  const { settled, rest } = await roundOf(repository.open(), work)
  t.match([...settled.values()], [{ outcome: 'pushed' }, { outcome: 'pushed' }])
  t.same([rest, reads, repository.pushes], [[], [], 1])
})

t.test('where the remembered tip is old, another round asks at once', async (t) => {
  const { repository, reads } = remembering({ 'README.md': 'x' })
  repository.commit({ c: 'c' })
  const { settled, rest } = await roundOf(repository.open(), workFor(['a']))
  t.same([settled.size, reads, shapeOf(rest)], [0, [], [[['a'], 0]]])
  const [next] = rest
  t.match(next, { fresh: true })
  const again = await roundOf(repository.open(), next ?? workFor([]))
  t.match([...again.settled.values()], [{ outcome: 'pushed' }])
  t.same(reads, ['read'])
  t.equal(repository.log().length, 3)
})

const text = 'content of a\n'
for (const [title, before, now] of [
  ['has the content', { a: text }, { a: 'other' }],
  ['has a directory at the path', { 'a/b': 'x' }, { a: 'other' }],
] as const)
  t.test(`a remembered tip that ${title} says nothing: the server is asked`, async (t) => {
    const { repository, reads } = remembering(before)
    repository.commit(now)
    const first = await roundOf(repository.open(), workFor(['a', 'b']))
    t.same([first.settled.size, repository.pushes, first.rest.length], [0, 0, 1])
    const again = await roundOf(repository.open(), first.rest[0] ?? workFor([]))
    t.match([...again.settled.values()], [{ outcome: 'pushed' }, { outcome: 'pushed' }])
    t.same(reads, ['read'])
  })

t.test('a refusal is one, whether the tip was read or remembered', async (t) => {
  const { repository } = remembering({ 'README.md': 'x' })
  repository.onPush = () => ({ kind: 'refused', failure: REFUSAL, each: true })
  const { settled } = await roundOf(repository.open(), workFor(['a']))
  t.same([...settled.values()], [REFUSAL])
})

t.test('a lost race is never followed by a push on a remembered tip', async (t) => {
  const { repository, reads } = remembering({ 'README.md': 'x' })
  await roundOf(repository.open(), workFor(['a'], { rounds: 1, fresh: true }))
  t.same(reads, ['read'])
})

const LOST = new Failure('Conflict', 'Another attempt has taken over.')

/** A claim that notes how it was confirmed, and is lost where the test says so. */
function claimOf(isLost: () => boolean = () => false) {
  const confirmed: boolean[] = []
  return {
    confirmed,
    claim: {
      async confirm(afresh = false) {
        confirmed.push(afresh)
        if (isLost()) throw LOST
      },
      remaining: () => (isLost() ? 0 : 25_000),
    },
  }
}

/** All rounds, of which there are ten at most; of several works that one leaves, the first. */
async function toTheEnd(repository: MemoryRepository, work: Work): Promise<void> {
  let left: Work | undefined = work
  for (let rounds = 0; left !== undefined && rounds < 10; rounds += 1)
    left = (await roundOf(repository.open(), left)).rest[0]
}

t.test('a claim is confirmed once the tip is known, and before the push', async (t) => {
  const repository = memoryRepository()
  const seen: string[] = []
  const { claim } = claimOf()
  repository.onRead = () => void seen.push('read')
  repository.onPush = () => void seen.push('push')
  const confirm = async () => void seen.push('confirm')
  const [one] = workFor(['a']).batch
  if (one === undefined) return
  await roundOf(repository.open(), workFor([], { batch: [{ ...one, claim: { ...claim, confirm } }] }))
  t.same(seen, ['read', 'confirm', 'push'])
})

t.test(
  'a change whose claim is lost leaves the batch, and the rest is pushed in the next round',
  async (t) => {
    const repository = memoryRepository()
    const { batch } = workFor(['a', 'b', 'c'])
    const claims = batch.map((_, i) => claimOf(() => i === 1))
    const claimed = batch.map((pending, i) => ({ ...pending, claim: claims[i]?.claim }))
    const { settled, rest } = await roundOf(repository.open(), workFor([], { batch: claimed }))
    t.same([...settled.values()], [LOST])
    t.same(shapeOf(rest), [[['a', 'c'], 0]])
    t.equal(repository.pushes, 0)
    const [left] = rest
    if (left !== undefined) await roundOf(repository.open(), left)
    t.same(repository.log(), ['Write c', 'Write a', 'Begin'])
  },
)

t.test(
  'after a lost race the claims of those are confirmed afresh at whose paths others wrote',
  async (t) => {
    const repository = memoryRepository()
    const { batch } = workFor(['a', 'b'])
    const [one, other] = [claimOf(), claimOf()]
    const claims = [one.claim, other.claim]
    const claimed = batch.map((pending, index) => ({ ...pending, claim: claims[index] }))
    repository.onPush = () => {
      repository.onPush = () => undefined
      repository.commit({ b: 'of a later attempt' })
      return { kind: 'race' }
    }
    await toTheEnd(repository, workFor([], { batch: claimed }))
    t.same(
      [one.confirmed, other.confirmed],
      [
        [false, false],
        [false, true],
      ],
    )
  },
)

t.test('so they are where a remembered tip was old', async (t) => {
  for (const [path, afresh] of [
    ['other', false],
    ['a', true],
  ] as const) {
    const repository = memoryRepository()
    repository.remembered = repository.tip()
    repository.commit({ [path]: 'x' })
    const { batch } = workFor(['a'])
    const { claim, confirmed } = claimOf()
    const work = workFor([], { batch: batch.map((pending) => ({ ...pending, claim })) })
    await toTheEnd(repository, work)
    t.same(confirmed, [false, afresh], path)
    t.same(repository.log(), ['Write a', 'Another writer was here', 'Begin'])
  }
})

t.test('they all are where it is not known what the tip held before', async (t) => {
  const repository = memoryRepository()
  repository.onRead = () => {
    repository.onRead = () => undefined
    return 'moved'
  }
  const { batch } = workFor(['a'])
  const { claim, confirmed } = claimOf()
  const work = workFor([], { batch: batch.map((pending) => ({ ...pending, claim })) })
  await toTheEnd(repository, work)
  t.same(confirmed, [true])
})

t.test('content that is there needs no claim, and a conflict none', async (t) => {
  const repository = memoryRepository({ a: 'content of a\n', file: 'x' })
  const { batch } = workFor(['a', 'file/below'])
  const { claim, confirmed } = claimOf(() => true)
  const work = workFor([], { batch: batch.map((pending) => ({ ...pending, claim })) })
  const { settled } = await roundOf(repository.open(), work)
  t.match([...settled.values()], [{ reason: 'PathConflict' }, { outcome: 'unchanged' }])
  t.same(confirmed, [])
})

t.test('a push of which an engine says that it may not begin any more is another round', async (t) => {
  const repository = memoryRepository()
  const { batch } = workFor(['a'])
  const claim = { confirm: () => Promise.resolve(), remaining: () => 0 }
  const work = workFor([], { batch: batch.map((pending) => ({ ...pending, claim })) })
  const { rest } = await roundOf(repository.open(), work)
  t.match(rest, [{ rounds: 1, fresh: true }])
  t.same(repository.log(), ['Begin'])
})
