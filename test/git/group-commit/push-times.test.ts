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
  return (names: string, milliseconds: number) => {
    const { alone, parts } = times.ended('main', { namespaces: new Set(names.split(' ')), milliseconds })
    return Object.fromEntries<number | string>([...alone, ...parts])
  }
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

t.test('who is slow alone goes on by itself for as long as that is so', (t) => {
  let now = 0
  const ended = watched(() => now)
  t.same([ended('shop', 300), ended('evil', 4_000)], [{}, {}])
  t.same(ended('shop evil', 4_300), { evil: 600_000 })
  now = 599_999
  t.same(ended('evil', 3_000), { evil: 600_000 })
  now = 1_199_998
  t.same([ended('evil', 1_000), ended('shop', 3_000)], [{}, {}])
  t.end()
})

t.test('who does not push until others have shown that they are quick is taken for slow', (t) => {
  const ended = watched()
  t.same(ended('shop market evil', 4_000), { shop: 20_000, market: 20_000, evil: 20_000 })
  t.same([ended('shop', 300), ended('market', 300)], [{}, {}])
  t.same(ended('shop market evil', 4_000), { evil: 20_000 })
  t.same(ended('shop market new evil', 4_000), { new: 20_000, evil: 600_000 })
  t.same(ended('new', 300), {})
  t.same(ended('shop market new evil', 4_000), { evil: 600_000 })
  t.end()
})

t.test(
  'where all are quick alone, halves push apart, until who is slow with others has none of them',
  (t) => {
    const ended = watched()
    for (const namespace of ['evil', 'shop', 'market', 'ops']) ended(namespace, 300)
    const [first, second] = ['first half 1', 'second half 1']
    t.same(ended('evil shop market ops', 4_000), { evil: first, shop: first, market: second, ops: second })
    t.same(ended('market ops', 600), {})
    t.same(ended('evil shop', 4_000), { evil: 'first half 2', shop: 'second half 2' })
    t.same(ended('evil', 4_000), { evil: 600_000 })
    t.same(ended('evil shop', 4_000), { evil: 600_000 })
    t.end()
  },
)

t.test('what takes a little longer together is not for one of them to answer for', (t) => {
  const ended = watched()
  for (const [namespace, took] of [
    ['shop', 1_500],
    ['market', 1_400],
    ['evil', 300],
  ] as const)
    ended(namespace, took)
  t.same(ended('shop market evil', 2_800), {})
  t.same(ended('shop market evil', 2_801), {
    shop: 'first half 1',
    market: 'first half 1',
    evil: 'second half 1',
  })
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

t.test('where many are slow alone and a quarter is not, the host is quick', (t) => {
  const ended = watched()
  const slow = Array.from({ length: 9 }, (_, i) => `evil-${i}`)
  const quick = ['shop', 'market', 'ops']
  for (const namespace of slow) ended(namespace, 3_000)
  for (const namespace of quick) ended(namespace, 100)
  const alone = Object.fromEntries(slow.map((namespace) => [namespace, 600_000]))
  t.same(ended([...slow, ...quick].join(' '), 3_100), alone)
  t.end()
})

t.test('after a slow push, who is slow or not known pushes by itself, and is likely to take long', (t) => {
  let now = 0
  const times = watchPushTimes(() => now)
  const push = (names: string, milliseconds: number): unknown =>
    times.ended('main', { namespaces: new Set(names.split(' ')), milliseconds })
  const known = (): unknown =>
    ['shop', 'evil', 'new'].map((one) => [times.isSuspect(one, 'main'), times.slowMs(one, 'main')])
  for (const [namespace, took] of [
    ['shop', 100],
    ['market', 100],
    ['evil', 3_000],
  ] as const)
    push(namespace, took)
  t.same(known(), [
    [false, 0],
    [false, 0],
    [false, 0],
  ])
  push('shop market evil', 3_100)
  t.same(known(), [
    [false, 0],
    [true, 3_000],
    [true, 'unknown'],
  ])
  t.notOk(times.isSuspect('new', 'another branch'))
  push('new', 100)
  t.notOk(times.isSuspect('new', 'main'))
  now = 600_000
  t.notOk(times.isSuspect('evil', 'main'), 'for ten minutes')
  t.end()
})

t.test(
  'after a slow push, who is slow alone is apart at once, and stays so where its next one is quick',
  (t) => {
    const times = watchPushTimes(() => 0)
    const alone = (namespace: string, milliseconds: number): unknown => [
      ...times.ended('main', { namespaces: new Set([namespace]), milliseconds }).alone,
    ]
    for (const namespace of ['shop', 'market', 'evil']) alone(namespace, 100)
    t.same(alone('evil', 4_000), [])
    alone('evil', 100)
    times.isLate('main')
    t.notOk(times.isSuspect('evil', 'main'))
    t.same(alone('evil', 4_000), [['evil', 600_000]])
    alone('evil', 100)
    t.equal(times.slowMs('evil', 'main'), 4_000)
    t.end()
  },
)

t.test('at another branch nothing is known', (t) => {
  const times = watchPushTimes()
  const push = (branch: string, names: readonly string[], milliseconds: number) => [
    ...times.ended(branch, { namespaces: new Set(names), milliseconds }).alone.keys(),
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
      batch.roundEnded({ tip: 'tip', head: 'head', raced: false, refused: false, milliseconds, namespaces })
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

t.test('who is slow only with others shares its pushes with fewer of them each time', async (t) => {
  const pushes: string[] = []
  async function* land({ changes, roundEnded }: Batch): AsyncGenerator<Settled> {
    await nextTurn()
    const namespaces = new Set(changes.map(({ change }) => change.namespace))
    pushes.push([...namespaces].join(' '))
    const milliseconds = namespaces.has('evil') && namespaces.size > 1 ? 4_000 : 100
    roundEnded({ tip: 'tip', head: 'head', raced: false, refused: false, milliseconds, namespaces })
    yield new Map(changes.map((one) => [one, { outcome: 'pushed', sha: 'head', branch: 'main' }] as const))
  }
  let milliseconds = 0
  t.intercept(performance, 'now', { value: () => milliseconds })
  const groupCommit = makeGroupCommit({ land })
  let count = 0
  /** One change of each at the same moment; answers who pushed with whom. */
  async function pushAll(): Promise<string[]> {
    pushes.length = 0
    const { signal } = new AbortController()
    await Promise.all(
      ['evil', 'shop', 'market', 'ops'].map((namespace) =>
        groupCommit.push(changeOf(URL, `${(count += 1)}`, { namespace }), loginOf('a'), signal),
      ),
    )
    return pushes.toSorted()
  }
  const alone = ['evil', 'market', 'ops', 'shop']
  t.strictSame(await pushAll(), ['evil shop market ops'])
  t.strictSame(await pushAll(), alone)
  milliseconds += 20_000
  t.strictSame(await pushAll(), ['evil shop market ops'])
  t.strictSame(await pushAll(), ['evil shop', 'market ops'])
  t.strictSame(await pushAll(), ['evil', 'market ops', 'shop'])
  const stranger = groupCommit.push(
    changeOf(URL, 'new', { namespace: 'new' }),
    loginOf('a'),
    new AbortController().signal,
  )
  t.strictSame(await pushAll(), ['evil', 'market ops', 'new', 'shop'], 'of a stranger nothing is known')
  await stranger
  milliseconds += 600_000
  t.strictSame(await pushAll(), ['evil shop market ops'], 'ten minutes later they may be together again')
  await groupCommit.idle()
})
