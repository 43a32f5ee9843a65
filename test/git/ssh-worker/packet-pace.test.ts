import t from 'tap'
import { pacePackets } from '../../../functions/git/ssh-worker/packet-pace.ts'

const KIB = 1024

/** A connection that is read as far as a test lets it be. */
function stage() {
  const seen = { told: [] as number[], isPaused: false }
  const answers: (() => void)[] = []
  const count = pacePackets(
    (cost, goOn) => {
      seen.told.push(cost)
      answers.push(goOn)
    },
    { pause: () => (seen.isPaused = true), resume: () => (seen.isPaused = false) } as never,
  )
  return { seen, count, goOn: () => answers.shift()?.() }
}

t.test('the messages of a usual connection are not told', async (t) => {
  const { seen, count } = stage()
  for (let message = 0; message < 60; message += 1) count(4 * KIB)
  t.same(seen, { told: [], isPaused: false })
})

t.test('what messages cost is told in pieces, and no more is read while two have no answer', async (t) => {
  const { seen, count, goOn } = stage()
  for (let message = 0; message < 127; message += 1) count(4 * KIB)
  t.same(seen, { told: [256 * KIB], isPaused: false })
  count(4 * KIB)
  t.same(seen, { told: [256 * KIB, 256 * KIB], isPaused: true })
  // What had been received already.
  for (let message = 0; message < 64; message += 1) count(4 * KIB)
  t.same(seen.told, [256 * KIB, 256 * KIB, 256 * KIB])
  goOn()
  t.ok(seen.isPaused)
  goOn()
  t.notOk(seen.isPaused)
})
