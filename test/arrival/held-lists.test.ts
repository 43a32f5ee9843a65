import pino from 'pino'
import t from 'tap'
import { NO_SEARCH, openArrivals } from '../../functions/arrival/arrivals.ts'
import type { Hint, Posted } from '../../functions/domain/event/hint.ts'
import { MOST_UNSIGNED, openEventPlaces } from '../../functions/event-places.ts'
import { pacedClock, type PacedClock } from '../harness/paced-clock.ts'

/** Arrivals by a clock that goes on only where all wait, and how often a place was asked for. */
function stage(waitBy: (clock: PacedClock) => PacedClock['wait'] = ({ wait }) => wait) {
  const clock = pacedClock()
  const asked = { count: 0 }
  const handled: string[] = []
  const { promise: finished, resolve } = Promise.withResolvers<undefined>()
  const places = openEventPlaces(true, clock.elapsed)
  const arrivals = openArrivals({
    async handle({ name }) {
      handled.push(name)
      if (name.startsWith('hangs')) await finished
    },
    places: {
      ...places,
      takeFurther(...one) {
        asked.count += 1
        return places.takeFurther(...one)
      },
    },
    searches: { sweep: () => Promise.resolve(), lookFor: () => NO_SEARCH },
    log: pino({ level: 'silent' }),
    wait: waitBy(clock),
    elapsed: clock.elapsed,
  })
  return { arrivals, asked, clock, handled, places, finish: () => resolve(undefined) }
}

function list(name: string, count: number, namespaceOf: (index: number) => string): Posted {
  const hints = Array.from({ length: count }, (_, index): Hint => ({
    about: 'resource',
    ref: { kind: 'GitCommit', namespace: namespaceOf(index), name: `${name}-${index}` },
  }))
  return { form: 'list', hints, skipped: 0 }
}

/** How they were answered, and when by the clock, as far as they were. */
function answers({ arrivals, clock }: ReturnType<typeof stage>) {
  const answered: { readonly name: string; readonly answer: string; readonly at: number }[] = []
  function post(name: string, posted: Posted, address?: string): void {
    void arrivals
      .follow(posted, 'anybody', address)
      .then((answer) => answered.push({ name, answer, at: clock.elapsed() }))
  }
  return { answered, post }
}

for (const [title, namespaceOf] of [
  ['lists about thousands of resources of one namespace cost next to nothing while they wait', () => 'flood'],
  [
    'lists about thousands of resources of as many namespaces cost next to nothing while they wait',
    (index: number) => `flood-${index}`,
  ],
] as const)
  t.test(title, async (t) => {
    const site = stage()
    const { post, answered } = answers(site)
    for (let n = 0; n < 4; n += 1) post('large', list(`hangs-${n}`, 6_000, namespaceOf), `10.0.0.${n}`)
    await site.clock.goOn(0)
    site.asked.count = 0
    await site.clock.goOn(1_000)
    t.ok(site.asked.count <= 10 * 300, `a place was asked for ${site.asked.count} times in a second`)
    await site.clock.goOn(25_100)
    t.equal(answered.length, 4)
    site.finish()
    await site.arrivals.idle()
  })

t.test('a list waits for 25 s by the clock, however late the thread is', async (t) => {
  const site = stage((clock) => (ms) => clock.wait(ms < 1_000 ? 3 * ms : ms))
  const { clock, places } = site
  const leave = Array.from({ length: MOST_UNSIGNED }, (_, n) => places.take('anybody', `flood-${n}`))
  const { post, answered } = answers(site)
  post(
    'late',
    list('late', 2, () => 'shop'),
  )
  await clock.goOn(26_000)
  t.match(answered, [{ answer: 'no room' }])
  t.equal(leave.length, MOST_UNSIGNED)
})

t.test('a list waits for 25 s in all, for the places of resources and for searches', async (t) => {
  const site = stage()
  const { clock, places } = site
  const leaves = Array.from({ length: MOST_UNSIGNED }, (_, n) => places.take('anybody', `flood-${n}`))
  const { post, answered } = answers(site)
  const { hints } = list('late', 1, () => 'shop')
  const objects = ['a', 'b'].map((namespace): Hint => ({ about: 'object', object: { namespace, name: 'a' } }))
  post('late', { form: 'list', hints: [...hints, ...objects], skipped: 0 })
  await clock.goOn(20_000)
  places.charge('anybody', { bytes: 1024 ** 3 })
  for (const leave of leaves) leave?.()
  for (let at = 20_000; at <= 26_000; at += 1_000) {
    await clock.goOn(at)
    places.charge('anybody', { bytes: 1024 ** 3 })
  }
  t.match(answered, [{ answer: 'no room' }])
})

t.test('what lists without a signature name is kept for so many, and others keep their part', async (t) => {
  const site = stage()
  const { clock, arrivals, finish, handled } = site
  const { post, answered } = answers(site)
  for (let n = 0; n < 40; n += 1)
    post(
      'flood',
      list(`hangs-${n}`, 10_000, () => 'flood'),
      '10.0.0.1',
    )
  await clock.goOn(0)
  const refused = answered.length
  t.ok(refused >= 36, `${refused} are refused at once`)
  t.ok(answered.every(({ answer }) => answer === 'no room'))
  post(
    'honest',
    list('honest', 100, (index) => `team-${index}`),
    '10.0.0.2',
  )
  post(
    'same address',
    list('same', 3, (index) => `shop-${index}`),
    '10.0.0.1',
  )
  await clock.goOn(24_000)
  t.equal(handled.filter((name) => name.startsWith('honest')).length, 100)
  t.equal(handled.filter((name) => name.startsWith('same')).length, 3)
  finish()
  await clock.goOn(60_000)
  await arrivals.idle()
  t.equal(answered.length, 42)
  t.strictSame(
    answered.filter(({ name }) => name !== 'flood').map(({ answer }) => answer),
    ['done', 'done'],
  )
  const again = answers(site)
  again.post(
    'later',
    list('later', 1, () => 'shop'),
    '10.0.0.1',
  )
  await clock.goOn(61_000)
  t.match(again.answered, [{ answer: 'done' }], 'what was held is given back')
})

t.test('a list has the reads of its address where those of all are spent', async (t) => {
  const site = stage()
  const { clock, places, handled } = site
  places.charge('anybody', { bytes: 1024 ** 3 })
  t.notOk(places.admits('anybody'))
  const { post, answered } = answers(site)
  post(
    'honest',
    list('honest', 60, (index) => `team-${index}`),
    '10.0.0.2',
  )
  await clock.goOn(5_000)
  t.equal(handled.length, 60)
  t.match(answered, [{ answer: 'done' }])
})
