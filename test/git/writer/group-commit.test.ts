import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { BATCH_LENGTH, makeGroupCommit, type Batch } from '../../../functions/git/writer/group-commit.ts'
import { changeOf, loginOf, outcomeOf } from '../stage.ts'

const URL = 'https://git.example.com/acme/shop.git'
const LOGIN = loginOf('a')
const NEVER = new AbortController().signal

/** Lets the queue take its next batch. */
function turn(): Promise<void> {
  return new Promise(setImmediate)
}

/** A queue whose batches end when the test says so. */
function slowQueue() {
  const batches: (Batch & { end(): void })[] = []
  const queue = makeGroupCommit((batch) => {
    const { promise, resolve } = Promise.withResolvers<undefined>()
    function end(): void {
      for (const { change, settle } of batch.entries)
        settle({ outcome: 'pushed', sha: change.path, branch: 'main' })
      resolve(undefined)
    }
    batches.push({ ...batch, end })
    return promise
  })
  const paths = () => batches.map(({ entries }) => entries.map(({ change }) => change.path))
  return { queue, batches, paths }
}

t.test('what comes while a batch is on its way goes in the next, in order', async (t) => {
  const { queue, batches, paths } = slowQueue()
  const work = ['a', 'b', 'c'].map((path) => queue.push(changeOf(URL, path), LOGIN, NEVER))
  t.same(paths(), [['a']])
  batches[0]?.end()
  await work[0]
  await turn()
  t.same(paths(), [['a'], ['b', 'c']])
  batches[1]?.end()
  t.same(
    (await Promise.all(work)).map(({ sha }) => sha),
    ['a', 'b', 'c'],
  )
  await queue.idle()
})

t.test('a batch keeps the secrets of each of its changes', async (t) => {
  const { queue, batches } = slowQueue()
  const work = ['first', 'second', 'third'].map((secret) =>
    queue.push(changeOf(URL, secret), { ...LOGIN, secrets: [secret, 'shared'] }, NEVER),
  )
  batches[0]?.end()
  await work[0]
  await turn()
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
  const { queue, batches, paths } = slowQueue()
  const work = [
    queue.push(changeOf(URL, 'a'), LOGIN, NEVER),
    queue.push(changeOf('https://git.example.com/acme/other.git', 'b'), LOGIN, NEVER),
    queue.push(changeOf(URL, 'c', { branch: 'next' }), LOGIN, NEVER),
    queue.push(changeOf(URL, 'd', { branch: undefined }), LOGIN, NEVER),
    queue.push(changeOf(URL, 'e'), loginOf('b'), NEVER),
  ]
  t.same(paths(), [['a'], ['b'], ['c'], ['d'], ['e']])
  for (const batch of batches) batch.end()
  await Promise.all(work)
})

t.test('a batch has an end: by number, by bytes, and where history is to be searched', async (t) => {
  const { queue, batches } = slowQueue()
  const large = changeOf(URL, 'large', { content: new Uint8Array(40 * 1024 * 1024) })
  const changes = [
    changeOf(URL, 'first'),
    ...Array.from({ length: BATCH_LENGTH + 1 }, (_, i) => changeOf(URL, String(i))),
    large,
    large,
    changeOf(URL, 'again', { since: new Date() }),
    changeOf(URL, 'last'),
  ]
  const work = changes.map((change) => queue.push(change, LOGIN, NEVER))
  for (let i = 0; i < 6; i++) {
    batches[i]?.end()
    await turn()
  }
  await Promise.all(work)
  t.same(
    batches.map(({ entries }) => entries.length),
    [1, BATCH_LENGTH, 2, 1, 1, 1],
  )
})

t.test('a batch that throws fails its own changes alone, and the next one goes', async (t) => {
  let landed = 0
  const queue = makeGroupCommit(async ({ entries }) => {
    landed += 1
    if (landed === 1) throw new TypeError('a bug')
    for (const { settle } of entries) settle({ outcome: 'pushed', sha: 'a', branch: 'main' })
  })
  const work = ['a', 'b'].map((path) => outcomeOf(queue.push(changeOf(URL, path), LOGIN, NEVER)))
  t.match(await work[0], { reason: 'Internal' })
  t.match(await work[1], { outcome: 'pushed' })
  t.match(await queue.push(changeOf(URL, 'c'), LOGIN, NEVER), { outcome: 'pushed' }, 'a later push starts')
  await queue.idle()
})

t.test('a waiting change whose time is over fails alone and is never begun', async (t) => {
  const { queue, batches } = slowQueue()
  const abort = new AbortController()
  const first = queue.push(changeOf(URL, 'a'), LOGIN, NEVER)
  const gone = queue.push(changeOf(URL, 'b'), LOGIN, abort.signal)
  abort.abort()
  t.match(await outcomeOf(gone), { reason: 'Timeout', message: /The time for one attempt was over/ })
  batches[0]?.end()
  await first
  await queue.idle()
  t.equal(batches.length, 1)
})

t.test('a batch goes on while somebody waits for it, and ends with the last', async (t) => {
  const { queue, batches } = slowQueue()
  const [one, two] = [new AbortController(), new AbortController()]
  const first = queue.push(changeOf(URL, 'a'), LOGIN, NEVER)
  const work = [one, two].map(({ signal }) => outcomeOf(queue.push(changeOf(URL, 'b'), LOGIN, signal)))
  batches[0]?.end()
  await first
  await turn()
  one.abort()
  t.match(await work[0], { reason: 'Timeout' })
  t.notOk(batches[1]?.signal.aborted)
  two.abort()
  t.ok(batches[1]?.signal.aborted)
  batches[1]?.end()
  await Promise.all(work)
})

t.test('a signal that has fired already is an answer, with its own reason', async (t) => {
  const { queue, batches } = slowQueue()
  const reason = new Failure('Conflict', 'Because.')
  t.equal(await outcomeOf(queue.push(changeOf(URL, 'a'), LOGIN, AbortSignal.abort(reason))), reason)
  t.equal(batches.length, 0)
})
