import t from 'tap'
import { rememberApart } from '../../../functions/git/group-commit/kept-apart.ts'

t.test('a namespace is kept apart for ten minutes, at that branch alone', async (t) => {
  let now = 0
  const { has, keep } = rememberApart(() => now)
  keep('market', 'main')
  t.same([has('market', 'main'), has('market', 'next'), has('shop', 'main')], [true, false, false])
  now = 599_999
  t.ok(has('market', 'main'))
  now = 600_000
  t.notOk(has('market', 'main'))
})

t.test('or for so many milliseconds, but never for less than it would be without', async (t) => {
  let now = 0
  const { has, keep } = rememberApart(() => now)
  keep('market', 'main', 1_000)
  now = 1_000
  t.notOk(has('market', 'main'))
  keep('market', 'main')
  keep('market', 'main', 1_000)
  now = 3_000
  t.ok(has('market', 'main'))
})

t.test('who is on trial pushes by itself until it has landed, or for so long', async (t) => {
  let now = 0
  const { has, keep, keepOnTrial, landed } = rememberApart(() => now)
  const isApart = (): readonly boolean[] => ['market', 'shop', 'evil'].map((one) => has(one, 'main'))
  for (const namespace of ['market', 'shop', 'evil']) keepOnTrial(namespace, 'main', 1_000)
  keep('evil', 'main')
  t.same(isApart(), [true, true, true])
  for (const namespace of ['market', 'evil']) landed(namespace, 'main')
  landed('shop', 'next')
  t.same(isApart(), [false, true, true])
  now = 1_000
  t.same(isApart(), [false, false, true])
})

t.test(
  'who is refused with others again and again is on trial for longer each time, and to the end',
  async (t) => {
    let now = 0
    const { has, keepOnTrial, landed } = rememberApart(() => now)
    const isApart = (): boolean => has('market', 'main')
    keepOnTrial('market', 'main', 1_000)
    landed('market', 'main')
    t.notOk(isApart())
    for (const milliseconds of [2_000, 4_000, 8_000]) {
      keepOnTrial('market', 'main', 1_000)
      landed('market', 'main')
      now += milliseconds - 1
      t.ok(isApart())
      now += 1
      t.notOk(isApart())
    }
    now += 600_000
    keepOnTrial('market', 'main', 1_000)
    landed('market', 'main')
    t.notOk(isApart(), 'ten minutes later it begins again')
  },
)

t.test('who pushes by itself does so however many branches another namespace has', async (t) => {
  const { has, keep } = rememberApart()
  keep('market', 'main')
  for (let i = 0; i < 2_000; i += 1) keep('evil', `${i}`)
  t.same([has('market', 'main'), has('evil', '0'), has('evil', '1999')], [true, false, true])
})

t.test('a part of the namespaces pushes together for ten minutes, and the last part counts', async (t) => {
  let now = 0
  const { keepIn, partOf } = rememberApart(() => now)
  keepIn('one', 'market', 'main')
  now = 300_000
  keepIn('other', 'market', 'main')
  t.same(
    [partOf('market', 'main'), partOf('market', 'next'), partOf('shop', 'main')],
    ['other', undefined, undefined],
  )
  now = 899_999
  t.equal(partOf('market', 'main'), 'other')
  now = 900_000
  t.equal(partOf('market', 'main'), undefined)
})
