import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { createPace } from '../../../functions/git/objects/pace.ts'

const MIB = 1024 * 1024

/** Names of the jobs in the order of their pieces, for each turn of the event loop; each job has so many pieces. */
async function piecesOf(jobs: readonly (readonly [owner: string, pieces: number])[]) {
  const turns: string[][] = [[]]
  let running = jobs.length
  await Promise.all([
    ...jobs.map(async ([owner, pieces]) => {
      const pace = createPace(undefined, owner)
      for (let i = 0; i < pieces; i++) {
        await pace(MIB)
        turns.at(-1)?.push(owner)
      }
      running -= 1
    }),
    (async () => {
      while (running > 0) {
        await nextTurn()
        turns.push([])
      }
    })(),
  ])
  return turns.filter((turn) => turn.length > 0)
}

t.test('of all jobs, one goes on in a turn of the event loop', async (t) => {
  const turns = await piecesOf(Array.from({ length: 8 }, () => ['hog', 3] as const))
  t.equal(turns.length, 24)
  t.ok(turns.every(({ length }) => length === 1))
})

t.test(
  'a namespace with many jobs keeps another one waiting for one piece with each of its own',
  async (t) => {
    const jobs = [...Array.from({ length: 8 }, () => ['hog', 4] as const), ['other', 4] as const]
    const order = (await piecesOf(jobs)).flat()
    t.equal(order.lastIndexOf('other'), 7, order.join(' '))
  },
)

t.test('between the pieces of several namespaces there is time for everything else', async (t) => {
  const PIECES = 40
  let worked = 0
  async function run(owner: string): Promise<void> {
    const pace = createPace(undefined, owner)
    for (let i = 0; i < PIECES; i += 1) {
      await pace(MIB)
      const began = performance.now()
      while (performance.now() - began < 5);
      worked += performance.now() - began
    }
  }
  const began = performance.now()
  await Promise.all([run('one'), run('two')])
  const took = performance.now() - began
  // After the last piece of one of them, the other one has the thread alone.
  t.ok(took > worked * 1.4, `${took} ms for ${worked} ms of work`)
})

t.test('pieces of who has taken little come before those of others who have taken much', async (t) => {
  const order: string[] = []
  async function run(owner: string, pieces: number): Promise<void> {
    const pace = createPace(undefined, owner)
    for (let i = 0; i < pieces; i += 1) {
      await pace(MIB)
      order.push(owner)
      const began = performance.now()
      while (performance.now() - began < 5);
    }
  }
  const hogs = ['hog 1', 'hog 2', 'hog 3'].map((owner) => run(owner, 50))
  while (order.length < 75) await nextTurn()
  await Promise.all([run('little', 5), ...hogs])
  const [first, last] = [order.indexOf('little'), order.lastIndexOf('little')]
  t.equal(last - first, 4, order.join(' '))
})

t.test('a job ends with its signal, and the others go on', async (t) => {
  const ending = new AbortController()
  const [gone, other] = [createPace(ending.signal, 'shop'), createPace(undefined, 'shop')]
  const [ended, goes] = [gone(MIB), other(MIB)]
  ending.abort(new Error('no time'))
  await t.rejects(ended, { message: 'no time' })
  await goes
})
