import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { failAll, isWaitedFor, restOf } from '../../../functions/git/writer/pending-change.ts'
import { changeOf, pending } from '../stage.ts'
import { URL } from './memory-remote.ts'

t.test('changes that are not settled remain, in order', async (t) => {
  const batch = ['a', 'b', 'c'].map((path) => pending(changeOf(URL, path)))
  const failure = new Failure('Conflict', 'Because.')
  t.same(restOf(batch, failAll(batch.slice(1, 2), failure)), [batch[0], batch[2]])
  t.same([...failAll(batch, failure).values()], [failure, failure, failure])
})

t.test('a change is waited for until its signal fires', async (t) => {
  const abort = new AbortController()
  const change = pending(changeOf(URL, 'a'), abort.signal)
  t.ok(isWaitedFor(change))
  abort.abort()
  t.notOk(isWaitedFor(change))
})
