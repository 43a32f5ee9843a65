import t from 'tap'
import { makeWoken } from '../../functions/looks/woken.ts'

/** More than one owner may start at once. */
const MANY = 100

t.test('owners whose attempts take long leave room for the next one', async (t) => {
  const { promise: over, resolve } = Promise.withResolvers<undefined>()
  const woken = makeWoken()
  const begun: string[] = []
  const start = (owner: string): void =>
    woken.start(owner, () => {
      begun.push(owner)
      return over
    })
  const counts = (): readonly number[] =>
    ['a', 'b', 'c', 'other'].map((owner) => begun.filter((one) => one === owner).length)
  for (const owner of ['a', 'b', 'c']) for (let i = 0; i < MANY; i += 1) start(owner)
  start('other')
  t.same(counts(), [32, 16, 8, 1], 'each gets no more than it leaves')
  resolve(undefined)
  await woken.close()
})

t.test('owners whose attempts take long leave room for others, however many they are', async (t) => {
  const { promise: over, resolve } = Promise.withResolvers<undefined>()
  const woken = makeWoken()
  let [begun, done] = [0, 0]
  for (let owner = 0; owner < 10; owner += 1)
    for (let i = 0; i < MANY; i += 1) woken.start(`hostile-${owner}`, () => ((begun += 1), over))
  for (let i = 0; i < MANY; i += 1) woken.start('other', () => Promise.resolve(void (done += 1)))
  await new Promise(setImmediate)
  t.equal(done, MANY, 'whose attempts take a moment waits for none of them')
  t.ok(begun < MANY, `${begun} of the others have begun`)
  resolve(undefined)
  await woken.close()
})
