import t from 'tap'
import { CALLS, countInProportion, countWithCredit } from '../../../functions/domain/sharing/taken-time.ts'

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

t.test(
  'who takes less than its part comes before those who always wait, by the credit at most',
  async (t) => {
    const taken = countWithCredit(CALLS)
    const turn = (owner: string, milliseconds: number): void => {
      taken.begins(owner)
      taken.add(owner, milliseconds)
    }
    const always = Array.from({ length: 10 }, (_, n) => `always-${n}`)
    for (let times = 0; times < 100; times += 1) {
      for (const owner of always) turn(owner, 300)
      if (times % 4 === 3) turn('rare', 1_000)
    }
    const ahead = taken.rankOf('always-0') - taken.rankOf('rare')
    t.ok(
      ahead * CALLS.same >= 1_500,
      'also a second of each 1.2 s that each of them takes, after two minutes',
    )
    t.ok(ahead * CALLS.same <= CALLS.credit + 350)
    t.equal(taken.rankOf('rare', 600) - taken.rankOf('rare'), 12)
  },
)

t.test(
  'however long a turn was, no more of others is waited for than is promised, and old ones are forgotten',
  async (t) => {
    const taken = countWithCredit(CALLS)
    taken.begins('long')
    taken.add('long', 600_000)
    const rank = taken.rankOf('long')
    t.equal((rank - taken.rankOf('other')) * CALLS.same, CALLS.most + CALLS.credit)
    for (let n = 0; n < 2_000; n += 1) {
      taken.begins(`owner-${n}`)
      taken.add(`owner-${n}`, 0)
    }
    t.equal(taken.rankOf('long'), rank)
  },
)
