import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { BATCH_LENGTH, makeGroupCommit, type Batch } from '../../../functions/git/writer/group-commit.ts'
import type { Settled } from '../../../functions/git/writer/pending-change.ts'
import { changeOf, loginOf, outcomeOf, pathOf } from '../stage.ts'

const URL = 'https://git.example.com/acme/shop.git'
const LOGIN = loginOf('a')
const NEVER = new AbortController().signal

/** Lets the group commit start its next batch. */
function nextBatch(): Promise<void> {
  return new Promise(setImmediate)
}

/** A group commit whose batches end when the test says so. */
function slowGroupCommit() {
  const batches: (Batch & { end(): void })[] = []
  const groupCommit = makeGroupCommit(async function* (batch) {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    batches.push({ ...batch, end: () => resolve(undefined) })
    await promise
    yield allLanded(batch)
  })
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
  const work = ['a', 'b', 'c'].map((path) => groupCommit.push(changeOf(URL, path), LOGIN, NEVER))
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

t.test('a batch keeps the secrets of each of its changes', async (t) => {
  const { groupCommit, batches } = slowGroupCommit()
  const work = ['first', 'second', 'third'].map((secret) =>
    groupCommit.push(changeOf(URL, secret), { ...LOGIN, secrets: [secret, 'shared'] }, NEVER),
  )
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

t.test('another repository, branch or login does not wait', async (t) => {
  const { groupCommit, batches, paths } = slowGroupCommit()
  const work = [
    groupCommit.push(changeOf(URL, 'a'), LOGIN, NEVER),
    groupCommit.push(changeOf('https://git.example.com/acme/other.git', 'b'), LOGIN, NEVER),
    groupCommit.push(changeOf(URL, 'c', { branch: 'next' }), LOGIN, NEVER),
    groupCommit.push(changeOf(URL, 'd', { branch: undefined }), LOGIN, NEVER),
    groupCommit.push(changeOf(URL, 'e'), loginOf('b'), NEVER),
  ]
  t.same(paths(), [['a'], ['b'], ['c'], ['d'], ['e']])
  for (const batch of batches) batch.end()
  await Promise.all(work)
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
  for (let i = 0; i < 6; i++) {
    batches[i]?.end()
    await nextBatch()
  }
  await Promise.all(work)
  t.same(
    batches.map(({ changes }) => changes.length),
    [1, BATCH_LENGTH, 2, 1, 1, 1],
  )
})

t.test('a batch that throws fails its own changes alone, and the next one goes', async (t) => {
  let landed = 0
  const groupCommit = makeGroupCommit(async function* (batch) {
    landed += 1
    if (landed === 1) throw new TypeError('a bug')
    yield allLanded(batch)
  })
  const work = ['a', 'b'].map((path) => outcomeOf(groupCommit.push(changeOf(URL, path), LOGIN, NEVER)))
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
  const groupCommit = makeGroupCommit(async function* (batch) {
    if (batch.changes.length > 1) yield allLanded({ ...batch, changes: batch.changes.slice(0, 1) })
    await rest.promise
  })
  const work = ['a', 'b', 'c'].map((path) => outcomeOf(groupCommit.push(changeOf(URL, path), LOGIN, NEVER)))
  rest.resolve(undefined)
  t.match(await Promise.all(work), [{ reason: 'Internal' }, { outcome: 'pushed' }, { reason: 'Internal' }])
  await groupCommit.idle()
})

t.test('a waiting change whose time is over fails alone and is never started', async (t) => {
  const { groupCommit, batches } = slowGroupCommit()
  const abort = new AbortController()
  const first = groupCommit.push(changeOf(URL, 'a'), LOGIN, NEVER)
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
