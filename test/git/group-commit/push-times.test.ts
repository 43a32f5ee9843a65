import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import type { Batch } from '../../../functions/git/group-commit/batch.ts'
import { makeGroupCommit } from '../../../functions/git/group-commit/group-commit.ts'
import { watchPushTimes } from '../../../functions/git/group-commit/push-times.ts'
import type { Settled } from '../../../functions/git/writer/pending-change.ts'
import { changeOf, loginOf, pathOf } from '../stage.ts'

const URL = 'https://git.example.com/acme/shop.git'
const HOUR = 60 * 60_000

/** Pushes of these namespaces, one after the other, as `watch` answers them. */
function watched(now: () => number = () => 0) {
  const times = watchPushTimes(now)
  return (names: string, milliseconds: number) =>
    Object.fromEntries(times.ended('main', { namespaces: new Set(names.split(' ')), milliseconds }))
}

t.test('where a shared push is slow, each pushes by itself for a while, to learn who is', (t) => {
  const ended = watched()
  t.same(ended('shop market evil', 2_000), {}, 'it is not slow')
  t.same(ended('shop market evil', 4_000), { shop: 20_000, market: 20_000, evil: 20_000 })
  t.same(ended('shop market', 600_000), { shop: 600_000, market: 600_000 }, 'ten minutes at most')
  t.end()
})

t.test('who is slow alone pushes by itself where others are quick, for ten minutes', (t) => {
  const ended = watched()
  t.same([ended('shop', 300), ended('evil', 4_000)], [{}, {}])
  t.same(ended('shop evil', 4_300), { evil: 600_000 })
  t.same(ended('shop new evil', 4_300), { evil: 600_000 }, 'with one who is not known')
  t.same(ended('evil new', 4_300), { evil: 21_500, new: 21_500 }, 'nobody is known to be quick')
  t.end()
})

t.test('where most are slow alone, the host is, and all go on together', (t) => {
  let now = 0
  const ended = watched(() => now)
  for (const namespace of ['shop', 'market', 'ops']) ended(namespace, 3_000)
  t.same(ended('shop market', 3_000), {})
  t.same(ended('shop market new', 3_000), {})
  ended('quick', 100)
  t.same(ended('shop market ops quick', 3_000), {})
  now = HOUR - 1
  t.same(ended('shop market', 3_000), {}, 'which is known as long as it is seen')
  now = 2 * HOUR - 2
  t.same(ended('shop market', 3_000), {})
  now = 3 * HOUR
  t.same(ended('shop market', 3_000), { shop: 15_000, market: 15_000 })
  t.end()
})

t.test('at another branch nothing is known', (t) => {
  const times = watchPushTimes()
  const push = (branch: string, names: readonly string[], milliseconds: number) => [
    ...times.ended(branch, { namespaces: new Set(names), milliseconds }).keys(),
  ]
  push('main', ['shop'], 100)
  push('main', ['evil'], 9_000)
  t.same(push('next', ['shop', 'evil'], 9_000), ['shop', 'evil'])
  t.same(push('main', ['shop', 'evil'], 9_000), ['evil'])
  t.end()
})

t.test(
  'a namespace whose commits a host looks at for long keeps others from one push, not from the next',
  async (t) => {
    const pushes: string[][] = []
    const ends: (() => void)[] = []
    async function* land(batch: Batch): AsyncGenerator<Settled> {
      const { changes } = batch
      const namespaces = new Set(changes.map(({ change }) => change.namespace))
      pushes.push(changes.map(({ change }) => pathOf(change)))
      const { promise, resolve } = Promise.withResolvers<undefined>()
      ends.push(() => resolve(undefined))
      await promise
      const milliseconds = namespaces.has('evil') ? 4_000 : 100
      batch.roundEnded({ tip: 'tip', head: 'head', raced: false, milliseconds, namespaces })
      yield new Map(changes.map((one) => [one, { outcome: 'pushed', sha: 'head', branch: 'main' }] as const))
    }
    const groupCommit = makeGroupCommit({ land })
    const push = (namespace: string, path: string) =>
      groupCommit.push(changeOf(URL, path, { namespace }), loginOf('a'), new AbortController().signal)
    /** Ends what is under way, until no push begins. */
    async function endAll(): Promise<void> {
      for (let seen = -1; seen < pushes.length;) {
        seen = pushes.length
        for (const end of ends.splice(0)) end()
        for (let i = 0; i < 20; i++) await nextTurn()
      }
    }
    const first = [push('evil', 'evil 1'), push('shop', 'shop 1')]
    for (let i = 0; i < 20; i++) await nextTurn()
    const later = [push('evil', 'evil 2'), push('evil', 'evil 3'), push('shop', 'shop 2')]
    await endAll()
    await Promise.all([...first, ...later])
    t.strictSame(pushes[0], ['evil 1', 'shop 1'])
    t.strictSame(pushes.slice(1).toSorted(), [['evil 2', 'evil 3'], ['shop 2']])
    await groupCommit.idle()
  },
)
