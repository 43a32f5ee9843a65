import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { afterPush } from '../../../functions/git/writer/after-push.ts'
import type { Work } from '../../../functions/git/writer/work.ts'
import { changeOf, pending } from '../stage.ts'
import { memoryRepository, URL } from './memory-remote.ts'

t.test('a push without an answer for long is not divided, and all of it is kept apart', async (t) => {
  const failure = new Failure('ProviderUnavailable', 'Later.')
  const batch = ['shop', 'evil'].map((namespace) => pending(changeOf(URL, namespace, { namespace })))
  const tip = { branch: 'main', commit: 'a'.repeat(40), exists: true }
  const pushed = { kind: 'refused', failure, each: false, late: true } as const
  const written = { settled: new Map(), rest: batch, pushed, head: 'b'.repeat(40) }
  for (const [raceMs, halves] of [
    [9_000, 2],
    [11_000, 0],
  ] as const) {
    const kept: unknown[] = []
    const ends = { apart: () => undefined, keepApart: (some: readonly unknown[]) => void kept.push(...some) }
    const work: Work = { batch, doubts: new Map(), rounds: 0, raceMs, ...ends }
    const pushing = { written, tip, seen: new Map(), gone: [] }
    const { settled, rest } = afterPush(memoryRepository().open(), work, pushing)
    t.equal(rest.length, halves)
    t.same(kept, halves === 0 ? batch : [])
    t.same([...settled.values()], halves === 0 ? [failure, failure] : [])
  }
})
