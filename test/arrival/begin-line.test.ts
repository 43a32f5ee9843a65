import t from 'tap'
import { openBeginLine } from '../../functions/arrival/begin-line.ts'
import { pacedClock } from '../harness/paced-clock.ts'

interface One {
  readonly namespace: string
  readonly name: string
}

const NOTHING: (one: One) => boolean = () => false

/** A line by a clock that goes on only where all wait, with so many places as are given, of which each serves one. */
function stage() {
  const clock = pacedClock()
  const begun: string[] = []
  const ending = new AbortController()
  const beginAll = openBeginLine({ ...clock, ending: ending.signal })
  const places = { free: 0, tries: 0, isBlocked: NOTHING }
  function begin(one: One): boolean {
    places.tries += 1
    if (places.free === 0 || places.isBlocked(one)) return false
    places.free -= 1
    begun.push(one.name)
    return true
  }
  function post(owner: string, all: readonly One[], forMs = 10_000) {
    const posted = { left: -1, at: -1 }
    void beginAll(all, begin, { forMs, owner }).then((left) =>
      Object.assign(posted, { left, at: clock.elapsed() }),
    )
    return posted
  }
  return { begun, clock, ending, places, post }
}

function some(
  count: number,
  name: string,
  namespace: (index: number) => string = () => 'shop',
): readonly One[] {
  return Array.from({ length: count }, (_, index) => ({
    namespace: namespace(index),
    name: `${name}-${index}`,
  }))
}

t.test(
  'what finds a place begins at once, in its order, and what waits begins as places become free',
  async (t) => {
    const { begun, clock, places, post } = stage()
    places.free = 2
    const posted = post('a', some(4, 'a'))
    t.strictSame(begun, ['a-0', 'a-1'])
    places.free = 1
    await clock.goOn(100)
    t.strictSame(begun, ['a-0', 'a-1', 'a-2'])
    places.free = 1
    await clock.goOn(200)
    t.strictSame(posted, { left: 0, at: 200 })
  },
)

t.test('what has no place when the time is over is counted, and waits no more', async (t) => {
  const { clock, places, post } = stage()
  places.free = 1
  const posted = post('a', some(4, 'a'), 1_000)
  const single = post('b', some(1, 'b'), 0)
  await clock.goOn(5_000)
  t.strictSame(posted, { left: 3, at: 1_000 })
  t.strictSame(single, { left: 1, at: 0 })
  places.tries = 0
  await clock.goOn(60_000)
  t.equal(places.tries, 0)
})

t.test('owners take turns, and so do those who wait for the same owner', async (t) => {
  const { begun, clock, places, post } = stage()
  for (let n = 0; n < 10; n += 1) post('flood', some(100, `flood${n}`))
  post('honest', some(3, 'honest'))
  places.free = 8
  await clock.goOn(100)
  t.equal(begun.filter((name) => name.startsWith('honest')).length, 3)
  const floods = begun.filter((name) => name.startsWith('flood'))
  t.equal(new Set(floods.map((name) => name.split('-')[0])).size, floods.length, 'another one each time')
})

t.test('a namespace that has no place keeps none of another one waiting', async (t) => {
  const { begun, clock, places, post } = stage()
  places.isBlocked = ({ namespace }) => namespace === 'busy'
  post('a', [...some(20_000, 'busy', () => 'busy'), ...some(3, 'a')])
  places.free = 3
  await clock.goOn(100)
  t.strictSame(begun, ['a-0', 'a-1', 'a-2'])
})

t.test(
  'a round tries the same number in vain, however many wait, and the next one goes on from there',
  async (t) => {
    const { begun, clock, places, post } = stage()
    for (let n = 0; n < 3; n += 1)
      post(
        `flood-${n}`,
        some(2_000, `flood${n}`, (index) => `team-${index}`),
      )
    places.isBlocked = ({ name }) => name !== 'flood2-1999'
    places.free = 1
    places.tries = 0
    await clock.goOn(100)
    t.equal(places.tries, 250)
    await clock.goOn(3_000)
    t.strictSame(begun, ['flood2-1999'])
  },
)

t.test('who has few namespaces gets places beside those who have thousands', async (t) => {
  const { begun, clock, places, post } = stage()
  for (const name of ['flood0', 'flood1'])
    post(
      name,
      some(2_000, name, (index) => `team-${index}`),
    )
  post('honest', some(6, 'honest'))
  for (let round = 1; round <= 10; round += 1) {
    places.free = 2
    await clock.goOn(round * 100)
  }
  const counts = ['flood0', 'flood1', 'honest'].map(
    (name) => begun.filter((one) => one.startsWith(name)).length,
  )
  t.strictSame(counts, [7, 7, 6])
})

t.test('where many wait, each owner is tried in one of the next rounds', async (t) => {
  const { begun, clock, places, post } = stage()
  for (let n = 0; n < 1_000; n += 1)
    post(
      `flood-${n}`,
      some(2, `flood${n}`, (index) => `team-${index}`),
    )
  post('honest', some(1, 'honest'))
  places.isBlocked = ({ name }) => name !== 'honest-0'
  places.free = 1
  await clock.goOn(1_000)
  t.strictSame(begun, ['honest-0'])
})

t.test('nobody waits once the pod is ending', async (t) => {
  const { clock, ending, post } = stage()
  const posted = post('a', some(2, 'a'))
  ending.abort()
  await clock.goOn(100)
  t.strictSame(posted, { left: 2, at: 100 })
})
