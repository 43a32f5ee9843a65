import t from 'tap'
import { bodyRoom } from '../../functions/domain/body-room.ts'

const CHUNKED = { 'transfer-encoding': 'chunked' }

function announcing(bytes: number) {
  return { 'content-length': String(bytes) }
}

t.test('room is taken as announced, and comes back once', async (t) => {
  const take = bodyRoom(100, 60)
  const giveBack = take(announcing(60))
  t.equal(take(announcing(41)), undefined)
  t.ok(take(announcing(40)))
  t.equal(take(announcing(1)), undefined)
  giveBack?.()
  giveBack?.()
  t.ok(take(announcing(60)))
  t.equal(take(announcing(1)), undefined)
})

t.test('a body without a length counts as the largest there may be', async (t) => {
  const take = bodyRoom(100, 60)
  t.ok(take(CHUNKED))
  t.equal(take(CHUNKED), undefined)
  t.ok(take(announcing(40)))
})

t.test('where there is no room, requests without a body and those too large to be read go on', async (t) => {
  const take = bodyRoom(60, 60)
  t.ok(take(CHUNKED))
  for (const headers of [{}, announcing(0), announcing(61)]) t.ok(take(headers), JSON.stringify(headers))
})
