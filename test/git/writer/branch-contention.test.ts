import t from 'tap'
import { watchContention } from '../../../functions/git/writer/branch-contention.ts'

t.test('a branch that nobody else writes to is pushed at once', (t) => {
  const contention = watchContention(() => 0.5)
  contention.ended('main', false)
  t.same([contention.isContended('main'), contention.pauseFor('main')], [false, 0])
  t.end()
})

t.test('each batch that lost a race doubles the pause, up to two seconds, and each other halves it', (t) => {
  const contention = watchContention(() => 0.5)
  function after(raced: boolean): number {
    contention.ended('main', raced)
    return contention.pauseFor('main')
  }
  t.same([true, true, true, true, true].map(after), [250, 500, 1_000, 2_000, 2_000])
  t.equal(contention.pauseFor('other'), 0)
  t.same([false, false, false].map(after), [1_000, 500, 250])
  t.ok(contention.isContended('main'))
  t.equal(after(false), 0)
  t.notOk(contention.isContended('main'))
  t.end()
})

t.test('pauses are random, so that two writers do not meet again', (t) => {
  const pauses = [0, 0.999].map((number) => {
    const contention = watchContention(() => number)
    contention.ended('main', true)
    return Math.round(contention.pauseFor('main'))
  })
  t.same(pauses, [125, 375])
  t.end()
})
