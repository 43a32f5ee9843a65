import t from 'tap'
import { watchContention } from '../../../functions/git/group-commit/branch-contention.ts'

/** A branch as one writer sees it: its rounds take 100 ms each, and time passes where the test says so. */
function watch(random = 0.5) {
  let now = 1_000
  const contention = watchContention(
    () => random,
    () => now,
  )
  let tip = 'begin'
  function round(raced: boolean): void {
    const head = raced ? undefined : `${tip}+`
    contention.roundEnded('main', { tip, head, raced, milliseconds: 100 })
    tip = head ?? `${tip}!`
  }
  return {
    contention,
    /** A batch that loses so many races before it lands; returns the pause after it. */
    batch: (races: number): number => {
      for (let lost = 0; lost < races; lost += 1) round(true)
      round(false)
      contention.batchEnded('main')
      return contention.pauseFor('main', false)
    },
    others: () => void (tip += '!'),
    pass: (ms: number) => void (now += ms),
  }
}

t.test('a branch that nobody else writes to is pushed at once', (t) => {
  const { contention, batch } = watch()
  t.same([batch(0), batch(0), contention.isContended('main')], [0, 0, false])
  t.end()
})

t.test('who finds that others have moved the branch waits for two rounds after its own push', (t) => {
  const { contention, batch, others, pass } = watch()
  batch(0)
  others()
  t.equal(batch(0), 200)
  t.ok(contention.isContended('main'))
  t.equal(contention.pauseFor('other', false), 0)
  pass(150)
  t.equal(contention.pauseFor('main', false), 50, 'counted from the end of the push')
  t.equal(batch(0), 200, 'also where others do not push between two of its own')
  pass(29_900)
  t.same(
    [contention.pauseFor('main', false), contention.isContended('main')],
    [0, false],
    'until they are gone',
  )
  t.end()
})

t.test('several lost races double the pause, one keeps it, none halves it', (t) => {
  const { batch } = watch()
  t.same([1, 1, 2, 3, 1, 0, 0, 0].map(batch), [200, 200, 400, 800, 800, 400, 200, 200])
  t.same([2, 2, 2, 2, 2, 2, 2].map(batch).at(-1), 3_200)
  t.end()
})

t.test('a push that was late by an old memory alone shows others, and is no lost race', (t) => {
  const { contention } = watch()
  contention.roundEnded('main', { tip: undefined, head: undefined, raced: true, milliseconds: 30 })
  contention.roundEnded('main', { tip: 'a', head: 'b', raced: false, milliseconds: 80 })
  contention.batchEnded('main')
  t.same([contention.isContended('main'), contention.pauseFor('main', false)], [true, 160])
  t.end()
})

t.test(
  'a push that namespaces share pauses for half a second at most, however long one of them has made the last one',
  (t) => {
    for (const milliseconds of [1_650, 30_000]) {
      const { contention } = watch(0.999)
      contention.roundEnded('main', { tip: 'a', head: 'b', raced: false, milliseconds })
      contention.roundEnded('main', { tip: 'of a user', head: 'c', raced: false, milliseconds })
      contention.batchEnded('main')
      t.equal(contention.pauseFor('main', true), 500)
      t.ok(contention.pauseFor('main', false) > 3_000, 'a login of one namespace waits for itself')
    }
    t.end()
  },
)

t.test('pauses are random, so that two writers do not meet again', (t) => {
  t.same(
    [0, 0.75].map((number) => watch(number).batch(1)),
    [100, 250],
  )
  t.end()
})

t.test('what the same login has written under another key is of no other writer', (t) => {
  const { contention, batch, others } = watch()
  function roundOf(key: string, tip: string, head: string): boolean {
    contention.roundEnded(key, { tip, head, raced: false, milliseconds: 100 }, { login: 'login' })
    return contention.isContended(key)
  }
  t.same(
    [
      roundOf('shop', '1', '2'),
      roundOf('market', '2', '3'),
      roundOf('shop', '3', '4'),
      roundOf('shop', '5', '6'),
    ],
    [false, false, false, true],
  )
  t.notOk(contention.isContended('market'), 'which it has not found itself')
  t.equal(batch(0), 0)
  others()
  t.equal(batch(0), 200, 'a key of another login')
  t.end()
})

t.test(
  'what another login of this pod has written is a reason to ask where the branch is, and to wait for nobody',
  (t) => {
    const { contention, pass } = watch()
    function roundOf(
      key: string,
      tip: string | undefined,
      head: string | undefined,
    ): readonly [boolean, number] {
      const raced = head === undefined
      contention.roundEnded(key, { tip, head, raced, milliseconds: 100 }, { branch: 'main' })
      contention.batchEnded(key)
      return [contention.isContended(key), contention.pauseFor(key, false)]
    }
    t.same(roundOf('one', '1', '2'), [false, 0])
    t.same(roundOf('other', '2', '3'), [false, 0])
    t.same(roundOf('one', undefined, undefined), [true, 0], 'late by an old memory')
    t.same(roundOf('one', '3', '4'), [true, 0])
    t.same(roundOf('other', '4', '5'), [true, 0])
    t.same(roundOf('one', 'of a user', '6'), [true, 200])
    pass(30_000)
    t.same(roundOf('one', undefined, undefined), [true, 0])
    t.same(roundOf('one', 'of a pipeline', '7'), [true, 200])
    t.end()
  },
)
