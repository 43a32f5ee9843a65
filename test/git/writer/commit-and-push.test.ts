import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import type { Remote } from '../../../functions/git/remote.ts'
import { commitAndPush, planCommits } from '../../../functions/git/writer/commit-and-push.ts'
import { changeOf, pending } from '../stage.ts'
import { memoryRepository, URL, type MemoryRepository } from './memory-remote.ts'

/** One push on the branch `next`; `meanwhile` happens between the read and the push. */
async function push(
  repository: MemoryRepository,
  texts: Readonly<Record<string, string>>,
  { meanwhile, change }: { readonly meanwhile?: () => unknown; readonly change?: Partial<Remote> } = {},
) {
  const batch = Object.entries(texts).map(([path, text]) =>
    pending(changeOf(URL, path, { branch: 'next', text })),
  )
  const remote = { ...repository.open(), ...change }
  const tip = await remote.readTip({ branch: 'next' })
  if (tip === 'moved') throw new Error('Nobody else is at work here')
  meanwhile?.()
  const plan = await planCommits(remote, tip, batch)
  const { pushed, settled, rest } = await commitAndPush(remote, tip, { ...plan, before: undefined })
  const endings = new Map([...plan.settled, ...settled])
  return { pushed, endings: batch.map((one) => endings.get(one)), left: rest.length }
}

t.test('a new branch is made where the default branch holds the content, without a commit', async (t) => {
  const repository = memoryRepository({ 'a.md': 'a', 'b.md': 'b' })
  const unchanged = { outcome: 'unchanged', sha: repository.tip('main'), branch: 'next' }
  t.same(await push(repository, { 'a.md': 'a', 'b.md': 'b' }), {
    pushed: { kind: 'landed' },
    endings: [unchanged, unchanged],
    left: 0,
  })
  t.equal(repository.tip('next'), repository.tip('main'))
})

t.test('a branch that another has made meanwhile is not taken for the new one', async (t) => {
  const repository = memoryRepository({ 'a.md': 'a' })
  const meanwhile = () => repository.commit({ 'a.md': 'other' }, { branch: 'next' })
  t.match(await push(repository, { 'a.md': 'a' }, { meanwhile }), { pushed: { kind: 'race' }, left: 1 })
})

t.test('a push that has not landed settles only changes whose path is in conflict', async (t) => {
  const repository = memoryRepository({ file: 'x' })
  const refused = { kind: 'refused', failure: new Failure('PushRejected', 'No.'), each: true } as const
  repository.onPush = () => refused
  t.match(await push(repository, { a: 'a', 'file/below': 'x', file: 'x', 'a/below': 'early' }), {
    pushed: refused,
    endings: [undefined, { reason: 'PathConflict' }, undefined, undefined],
    left: 3,
  })
})

t.test('no branch is made for changes that all fail, and nothing is pushed', async (t) => {
  const repository = memoryRepository({ 'a.md': 'a' })
  t.match(await push(repository, { 'a.md/b.md': 'a' }), {
    pushed: undefined,
    endings: [{ reason: 'PathConflict' }],
    left: 0,
  })
  t.equal(repository.pushes, 0)
  t.equal(repository.tip('next'), undefined)
})
