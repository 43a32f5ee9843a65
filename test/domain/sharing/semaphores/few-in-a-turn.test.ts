import t from 'tap'
import { fewInATurn } from '../../../../functions/domain/sharing/semaphores/few-in-a-turn.ts'

/** A loop whose turns the test begins. */
function loop() {
  const next: (() => void)[] = []
  return {
    nextTurn: (work: () => void): void => void next.push(work),
    turn: (): void => {
      for (const work of next.splice(0)) work()
    },
  }
}

t.test('of what is handed in at the same moment, so many are begun in a turn, in order', (t) => {
  const { nextTurn, turn } = loop()
  const handIn = fewInATurn(4, nextTurn)
  const begun: number[] = []
  for (let i = 0; i < 10; i += 1) handIn(() => begun.push(i))
  t.same(begun, [0, 1, 2, 3])
  turn()
  t.same(begun, [0, 1, 2, 3, 4, 5, 6, 7])
  handIn(() => begun.push(10))
  t.equal(begun.length, 8, 'nothing goes before what waits')
  turn()
  t.same(begun, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  t.end()
})

t.test('in a turn of which little was taken, the next one is begun at once', (t) => {
  const { nextTurn, turn } = loop()
  const handIn = fewInATurn(2, nextTurn)
  let begun = 0
  const begin = (): void => void (begun += 1)
  for (let expected = 1; expected < 5; expected += 1) {
    handIn(begin)
    t.equal(begun, expected)
    turn()
  }
  t.end()
})
