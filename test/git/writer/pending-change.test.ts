import t from 'tap'
import type { Landed } from '../../../functions/domain/commit/change.ts'
import type { Failure } from '../../../functions/domain/failure.ts'
import { isWaitedFor, settle } from '../../../functions/git/writer/pending-change.ts'
import { changeOf } from '../stage.ts'

function entryWith(signal: AbortSignal, told: (Landed | Failure)[]) {
  const change = changeOf('https://git.example.com/acme/shop.git', 'a.md')
  return { change, date: new Date(), signal, settle: (result: Landed | Failure) => void told.push(result) }
}

t.test('an entry that is told how it ended is not left any more', async (t) => {
  const told: (Landed | Failure)[] = []
  const [entry, other] = [1, 2].map(() => entryWith(new AbortController().signal, told))
  if (entry === undefined || other === undefined) throw new Error('Two were made')
  const left = new Set([entry, other])
  const result = { outcome: 'unchanged', sha: '1'.repeat(40), branch: 'main' } as const
  settle(left, entry, result)
  t.same(told, [result])
  t.same([...left], [other])
})

t.test('an entry is waited for until its signal fires', async (t) => {
  const abort = new AbortController()
  const entry = entryWith(abort.signal, [])
  t.ok(isWaitedFor(entry))
  abort.abort()
  t.notOk(isWaitedFor(entry))
})
