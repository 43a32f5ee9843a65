import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import type { Remote } from '../../../functions/git/remote.ts'
import { commitAndPush } from '../../../functions/git/writer/commit-and-push.ts'
import { planCommits } from '../../../functions/git/writer/plan-batch.ts'
import type { PendingChange } from '../../../functions/git/writer/pending-change.ts'
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
  const plan = await planCommits(remote, tip, { batch, isShared: false })
  const { pushed, settled, rest } = await commitAndPush(remote, tip, { ...plan, before: new Map() })
  const endings = new Map([...plan.settled, ...settled])
  return { pushed, endings: batch.map((one) => endings.get(one)), left: rest.length }
}

/** The endings of changes of `main`. */
async function land(repository: MemoryRepository, batch: readonly PendingChange[]) {
  const remote = repository.open()
  const tip = await remote.readTip({ branch: 'main' })
  if (tip === 'moved') throw new Error('Nobody else is at work here')
  const plan = await planCommits(remote, tip, { batch, isShared: false })
  const { settled } = await commitAndPush(remote, tip, { ...plan, before: new Map() })
  return batch.map((one) => settled.get(one))
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

t.test('where an earlier push may still be carried out, an empty commit moves the branch', async (t) => {
  const repository = memoryRepository({ 'a.md': 'a', 'b.md': 'b' })
  const begin = repository.tip()
  const late = (path: string, text: string) =>
    pending(changeOf(URL, path, { branch: 'main', text, latePush: true }))
  const first = await land(repository, [late('a.md', 'a'), late('b.md', 'b')])
  const unchanged = { outcome: 'unchanged', sha: repository.tip(), branch: 'main' }
  t.same(first, [unchanged, unchanged])
  t.not(repository.tip(), begin)
  t.same(repository.log(), ['Keep a.md', 'Begin'], 'one for all')
  t.match(await land(repository, [late('a.md', 'a'), late('b.md', 'new')]), [
    { outcome: 'unchanged' },
    { outcome: 'pushed' },
  ])
  t.equal(repository.log().length, 3, 'a commit of another change does it as well')
})

t.test(
  'a change that needs no commit names a commit that holds its content, not a later one of the push',
  async (t) => {
    const repository = memoryRepository({ 'a.md': 'old' })
    const begin = repository.tip()
    const texts = ['old', 'new', 'new', 'newer', 'newer']
    const batch = texts.map((text) => pending(changeOf(URL, 'a.md', { branch: 'main', text })))
    const endings = await land(repository, batch)
    const [, first, , second] = endings as readonly { readonly sha: string }[]
    t.match(endings, [
      { outcome: 'unchanged', sha: begin },
      { outcome: 'pushed' },
      { outcome: 'unchanged', sha: first?.sha },
      { outcome: 'pushed', sha: repository.tip() },
      { outcome: 'unchanged', sha: second?.sha },
    ])
    t.not(first?.sha, second?.sha)
  },
)

/** Pushes a change, and returns what its watch is told. */
async function watched(repository: MemoryRepository, more: Partial<Remote> = {}) {
  const told: string[] = []
  const pushWatch = {
    sent: () => void told.push('sent'),
    answered: (landed: boolean) => void told.push(landed ? 'landed' : 'not landed'),
    unread: () => void told.push('unread'),
  }
  const remote = { ...repository.open(), ...more }
  const tip = await remote.readTip({ branch: 'main' })
  if (tip === 'moved') throw new Error('Nobody else is at work here')
  const batch = [{ ...pending(changeOf(URL, 'a.md')), pushWatch }]
  const plan = await planCommits(remote, tip, { batch, isShared: false })
  await commitAndPush(remote, tip, { ...plan, before: new Map() })
  return told
}

const REFUSED = { kind: 'refused', failure: new Failure('NetworkError', 'No.'), each: false } as const

t.test('a push is watched: whether it has been answered, and whether it has landed', async (t) => {
  for (const [answer, told] of [
    [undefined, ['sent', 'landed']],
    [{ kind: 'race' }, ['sent', 'not landed']],
    [REFUSED, ['sent', 'not landed']],
    [{ ...REFUSED, unread: true }, ['sent', 'unread']],
    [{ ...REFUSED, late: true }, ['sent']],
    [{ kind: 'unknown' }, ['sent']],
  ] as const) {
    const repository = memoryRepository()
    repository.onPush = () => answer
    t.same(await watched(repository), told, JSON.stringify(answer))
  }
})

t.test('a push is sent when its first byte may be sent, and once', async (t) => {
  const repository = memoryRepository()
  const late = { ...REFUSED, late: true } as const
  const unconnected = await watched(repository, { push: () => Promise.resolve(late) })
  t.same(unconnected, [], 'there was no connection')
  const twice: Remote['push'] = (_tip, _head, remaining) => {
    remaining?.()
    remaining?.()
    return Promise.resolve(late)
  }
  t.same(await watched(repository, { push: twice }), ['sent'])
})
