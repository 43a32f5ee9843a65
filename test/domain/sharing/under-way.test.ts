import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { countUnderWay } from '../../../functions/domain/sharing/under-way.ts'

t.test('who waits for the next end of an owner hears of one, and of no other owner', async (t) => {
  const underWay = countUnderWay()
  const heard: string[] = []
  const hear = (owner: string, name: string): void =>
    void underWay.nextEnd(owner).then(() => heard.push(name))
  const [end, last, other] = ['a', 'a', 'b'].map((owner) => underWay.begin(owner))
  hear('a', 'one')
  hear('a', 'two')
  hear('b', 'three')
  hear('c', 'never')
  t.equal(underWay.count('a'), 2)
  end?.()
  end?.()
  t.equal(underWay.count('a'), 1, 'it ends once')
  await setImmediate()
  t.same(heard, ['one', 'two'])
  hear('a', 'four')
  await setImmediate()
  t.same(heard, ['one', 'two'], 'the next end')
  last?.()
  other?.()
  await setImmediate()
  t.same(heard, ['one', 'two', 'four', 'three'])
  t.equal(underWay.count('a'), 0)
})
