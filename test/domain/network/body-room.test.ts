import t from 'tap'
import { openBodyRoom } from '../../../functions/domain/network/body-room.ts'
import type { BodyPlace } from '../../../functions/domain/network/body-room.ts'

/** A place that is left when it is given up, and whether it was. */
function entering(enter: () => BodyPlace) {
  const place = enter()
  const state = { givenUp: false }
  const giveUp = (): void => {
    state.givenUp = true
    place.leave()
  }
  return { ...place, take: (bytes: number) => place.take(bytes, giveUp), state }
}

t.test('the incomplete bodies that began first are given up until there is room', async (t) => {
  const enter = openBodyRoom(100)
  const [first, second, third] = [entering(enter), entering(enter), entering(enter)]
  t.ok(first.take(10))
  t.ok(second.take(30))
  t.ok(third.take(60))
  t.ok(second.take(5))
  t.strictSame([first.state.givenUp, second.state.givenUp, third.state.givenUp], [true, false, false])
  const fourth = entering(enter)
  t.ok(fourth.take(40))
  t.strictSame([second.state.givenUp, third.state.givenUp], [true, false])
})

t.test('complete bodies are not given up, and later ones are not given up for earlier ones', async (t) => {
  const enter = openBodyRoom(100)
  const [first, second, third] = [entering(enter), entering(enter), entering(enter)]
  t.ok(first.take(50))
  first.complete()
  t.ok(second.take(10))
  t.ok(third.take(40))
  t.notOk(second.take(1), 'the first of the incomplete ones itself')
  second.leave()
  t.ok(third.take(10))
  t.notOk(entering(enter).take(60))
  first.leave()
  first.leave()
  t.ok(third.take(50), 'what is left twice is returned once')
  t.notOk(third.take(1))
})

t.test('complete bodies of one owner hold three times what they leave at most', async (t) => {
  const enter = openBodyRoom(100)
  const bodyOf = (owner: string, bytes: number): BodyPlace | undefined => {
    const place = enter(owner)
    if (!place.take(bytes, () => place.leave())) return undefined
    place.complete()
    return place
  }
  const first = bodyOf('a', 40)
  t.ok(bodyOf('a', 35))
  t.notOk(bodyOf('a', 1))
  t.ok(bodyOf('b', 18))
  t.notOk(bodyOf('b', 1))
  first?.leave()
  t.ok(bodyOf('a', 20))
})

t.test('a body that is larger than the room does not fit', async (t) => {
  t.notOk(entering(openBodyRoom(100)).take(101))
})
