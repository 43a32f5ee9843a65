import t from 'tap'
import {
  doubtAll,
  findOne,
  firstDoubts,
  searchedSince,
  settleFound,
} from '../../../functions/git/writer/doubts.ts'
import { changeOf, outcomeOf, pending } from '../stage.ts'
import { memoryRepository, URL } from './memory-remote.ts'

const EARLY = new Date('2026-03-01T09:00:00Z')
const LATE = new Date('2026-03-01T10:00:00Z')

t.test('a change with an earlier attempt is in doubt; history is read since the earliest one', async (t) => {
  const [fresh, late, early] = [undefined, LATE, EARLY].map((since) =>
    pending(changeOf(URL, 'a', since === undefined ? {} : { since })),
  )
  if (fresh === undefined || late === undefined || early === undefined) throw new Error('Three were made')
  const doubts = firstDoubts([fresh, late, early])
  t.equal(searchedSince(doubts, [fresh]), undefined)
  t.same(searchedSince(doubts, [fresh, late, early]), EARLY)
  t.same(searchedSince(doubts, [late]), LATE)
  const all = doubtAll(doubts, [fresh, late])
  t.same(all.get(fresh), new Date(fresh.date.getTime() - 600_000), 'before its own date')
  t.equal(all.get(late), LATE, 'the earlier doubt stays')
  t.equal(all.get(early), EARLY)
})

t.test('only those in doubt are looked for, and only where there are commits', async (t) => {
  const repository = memoryRepository()
  const [one, other] = ['a', 'b'].map((path) => pending(changeOf(URL, path)))
  if (one === undefined || other === undefined) throw new Error('Two were made')
  const sha = repository.commit({ a: 'x' }, { message: one.change.message })
  repository.commit({ b: 'x' }, { message: other.change.message })
  const remote = repository.open()
  const tip = { branch: 'main', commit: repository.tip(), exists: true }
  const wanted = { batch: [one, other], doubts: new Map([[one, EARLY]]) }
  t.same([...(await settleFound(remote, tip, wanted))], [[one, { outcome: 'found', sha, branch: 'main' }]])
  t.same([...(await settleFound(remote, { ...tip, exists: false, commit: undefined }, wanted))], [])
})

t.test('a search without a push', async (t) => {
  const repository = memoryRepository()
  const change = { ...changeOf(URL, 'a'), since: EARLY }
  t.equal(await findOne(repository.open(), change), undefined)
  t.equal(await findOne(repository.open(), { ...change, branch: 'next' }), undefined)
  const sha = repository.commit({ a: 'x' }, { message: change.message })
  t.same(await findOne(repository.open(), change), { outcome: 'found', sha, branch: 'main' })
  t.equal(repository.pushes, 0)
})

t.test('a branch that moves while it is read is tried again', async (t) => {
  const repository = memoryRepository()
  repository.onRead = () => 'moved'
  t.match(await outcomeOf(findOne(repository.open(), changeOf(URL, 'a'))), {
    reason: 'Conflict',
    message: /moved/,
  })
})
