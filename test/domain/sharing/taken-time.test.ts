import t from 'tap'
import { countInProportion } from '../../../functions/domain/sharing/taken-time.ts'

t.test('next is the turn that would end first, and what was taken alone is forgotten', async (t) => {
  const taken = countInProportion(200)
  const turn = (owner: string, milliseconds: number): void => {
    taken.waits(owner)
    taken.begins(owner)
    taken.add(owner, milliseconds)
  }
  for (let times = 0; times < 100; times += 1) turn('long', 50)
  for (const owner of ['long', 'new']) taken.waits(owner)
  t.equal(taken.rankOf('long') - taken.rankOf('new'), 100, 'its last turn, and as long a one')
  turn('longer', 10_000)
  taken.waits('longer')
  t.ok(taken.rankOf('longer') - taken.rankOf('new') <= 400, 'of a turn, 200 ms count')
})

t.test('owners whom others have caught up with are forgotten, and those who wait are not', async (t) => {
  const taken = countInProportion(200)
  taken.waits('waiting')
  taken.add('waiting', 200)
  taken.waits('waiting')
  const rank = taken.rankOf('waiting')
  for (let index = 0; index < 2_000; index += 1) {
    const owner = `owner-${index}`
    taken.waits(owner)
    taken.begins(owner)
    taken.add(owner, 0)
  }
  t.equal(taken.rankOf('waiting'), rank)
})
