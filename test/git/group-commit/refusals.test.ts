import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import type { Batch } from '../../../functions/git/group-commit/batch.ts'
import { makeGroupCommit } from '../../../functions/git/group-commit/group-commit.ts'
import { land } from '../../../functions/git/writer/land.ts'
import type { Settled } from '../../../functions/git/writer/pending-change.ts'
import { changeOf, loginOf } from '../stage.ts'
import { memoryRepository } from '../writer/memory-remote.ts'

const URL = 'https://git.example.com/acme/shop.git'
const LOGIN = loginOf('a')
const NEVER = new AbortController().signal

/** A repository that refuses paths that begin with `bad`, and the paths of each push. */
function stage() {
  const repository = memoryRepository()
  const pushes: (readonly string[])[] = []
  repository.onPush = (commits) => {
    const paths = commits.flatMap(({ files }) => files.map(({ path }) => path))
    pushes.push(paths)
    const isBad = paths.some((path) => path.startsWith('bad'))
    return isBad ? { kind: 'refused', failure: new Failure('PushRejected', 'No.'), each: true } : undefined
  }
  async function* landBatch({ changes, ...batch }: Batch): AsyncGenerator<Settled> {
    yield* land(repository.open(), { ...batch, batch: changes })
  }
  const groupCommit = makeGroupCommit({ land: landBatch })
  const push = (namespace: string, path: string): Promise<string> =>
    groupCommit.push(changeOf(URL, path, { namespace }), LOGIN, NEVER).then(
      ({ outcome }) => outcome,
      (error: unknown) => (error instanceof Failure ? error.reason : 'a bug'),
    )
  return { push, pushes }
}

t.test(
  'refused commits of one namespace are for its own pushes to find, and others land at once',
  async (t) => {
    const { push, pushes } = stage()
    await push('shop', 'first')
    const bad = Array.from({ length: 20 }, (_, i) => push('evil', `bad ${i}`))
    t.same(await Promise.all([push('shop', 'good'), push('market', 'fine')]), ['pushed', 'pushed'])
    t.ok(pushes.length <= 5, `${pushes.length} pushes, and not one for each that is bad`)
    t.same(await Promise.all([...bad, push('evil', 'harmless')]), [
      ...bad.map(() => 'PushRejected'),
      'pushed',
    ])
    pushes.length = 0
    t.same(await Promise.all([push('evil', 'bad again'), push('shop', 'better'), push('market', 'finer')]), [
      'PushRejected',
      'pushed',
      'pushed',
    ])
    t.same(
      pushes.map((paths) => paths.join(', ')).sort(),
      ['bad again', 'better, finer'],
      'evil is by itself',
    )
  },
)

/** Of ten namespaces whose commits are refused, and ten others; all but the first wait for the first. */
async function pushAll({ push }: ReturnType<typeof stage>, times: string): Promise<readonly string[]> {
  const first = push('first', `first ${times}`)
  const all = Array.from({ length: 20 }, (_, i) =>
    i % 2 === 0 ? push(`evil-${i}`, `bad ${i} ${times}`) : push(`team-${i}`, `good ${i} ${times}`),
  )
  await first
  return Promise.all(all)
}

const FATES = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? 'PushRejected' : 'pushed'))

t.test('where many namespaces are refused, few pushes are shared until each pushes by itself', async (t) => {
  const staged = stage()
  t.same(await pushAll(staged, 'once'), FATES)
  const shared = staged.pushes.filter((paths) => paths.length > 1)
  t.ok(shared.length >= 1 && shared.length <= 7, `${shared.length} shared pushes`)
  t.ok(staged.pushes.length <= 1 + 7 + 20, `${staged.pushes.length} pushes`)
})

t.test('who was refused by itself is not with others again when these are', async (t) => {
  const now = performance.now.bind(performance)
  const staged = stage()
  t.same(await pushAll(staged, 'once'), FATES)
  t.intercept(performance, 'now', { value: () => now() + 31_000 })
  staged.pushes.length = 0
  t.same(await pushAll(staged, 'again'), FATES)
  const mixed = staged.pushes.filter((paths) => paths.length > 1)
  t.same(
    mixed.flat().filter((path) => path.startsWith('bad')),
    [],
  )
  t.ok(
    mixed.some((paths) => paths.length > 5),
    'the others are',
  )
})

t.test('who has landed by itself meanwhile is with the others again at once', async (t) => {
  const staged = stage()
  t.same(await pushAll(staged, 'once'), FATES)
  staged.pushes.length = 0
  t.same(await pushAll(staged, 'again'), FATES)
  const shared = staged.pushes.filter((paths) => paths.length > 1)
  t.same(
    shared.map((paths) => paths.length),
    [11],
  )
})
