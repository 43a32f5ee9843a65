import { setTimeout as pause } from 'node:timers/promises'
import pino from 'pino'
import t from 'tap'
import { NO_SEARCH, openArrivals } from '../../functions/arrival/arrivals.ts'
import type { ArrivalOptions, Searches } from '../../functions/arrival/arrivals.ts'
import type { Hint, Posted } from '../../functions/domain/event/hint.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { ObjectRef } from '../../functions/domain/resource/resource.ts'
import { pacedClock } from '../harness/paced-clock.ts'
import { MOST_UNSIGNED, openEventPlaces } from '../../functions/event-places.ts'

const NO_SEARCHES: Searches = { sweep: () => Promise.resolve(), lookFor: () => NO_SEARCH }

/** Arrivals whose 25 s take 250 ms, and what they handle. */
function stage(changes: Partial<ArrivalOptions> = {}) {
  const handled: string[] = []
  const lines: object[] = []
  const log = pino({ level: 'trace' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
  const places = openEventPlaces(true, () => performance.now() * 100)
  const arrivals = openArrivals({
    handle: async ({ namespace, name }) => void handled.push(`${namespace}/${name}`),
    places,
    searches: NO_SEARCHES,
    log,
    wait: (milliseconds, signal) => pause(milliseconds / 100, undefined, { signal }),
    elapsed: () => performance.now() * 100,
    ...changes,
  })
  return { arrivals, handled, lines, places }
}

function refTo(name: string, namespace = 'shop'): ObjectRef {
  return { kind: 'GitCommit', namespace, name }
}

function posted(form: Posted['form'], names: readonly string[], more: readonly Hint[] = []): Posted {
  const hints = names.map((name): Hint => ({ about: 'resource', ref: refTo(name, `team-${name}`) }))
  return { form, hints: [...hints, ...more], skipped: 0 }
}

function numbered(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${index}`)
}

t.test('each resource of a list is handled once, and nothing is done for an empty one', async (t) => {
  const { arrivals, handled } = stage()
  t.equal(await arrivals.follow(posted('list', ['a', 'b', 'a', 'a']), 'anybody'), 'done')
  t.strictSame(handled, ['team-a/a', 'team-b/b'])
  t.equal(await arrivals.follow(posted('event', []), 'anybody'), 'done')
})

t.test(
  'what a source tells of waits in the line of its namespace, and keeps nobody else from being told of',
  async (t) => {
    const clock = pacedClock()
    const begun: string[] = []
    const { arrivals } = stage({
      ...clock,
      handle: async ({ namespace }) => void begun.push(namespace),
    })
    const watched = (namespace: string, name: string): Posted => ({
      form: 'watched',
      hints: [{ about: 'resource', ref: refTo(name, namespace) }],
      skipped: 0,
    })
    const countOf = (namespace: string): number => begun.filter((one) => one === namespace).length
    for (let event = 0; event < 2_000; event += 1)
      t.equal(await arrivals.follow(watched('busy', String(event % 1_000)), 'source'), 'done')
    await clock.goOn(0)
    t.equal(countOf('busy'), 340, 'what it has of its own, and what all share')
    t.equal(await arrivals.follow(watched('shop', 'a'), 'source'), 'done')
    await clock.goOn(0)
    t.equal(countOf('shop'), 1)
    await clock.goOn(60_000)
    t.equal(countOf('busy'), 1_000 + 340, 'each once, and once more where it had begun')
    for (let event = 0; event < 1_000; event += 1)
      await arrivals.follow(watched('busy', `late-${event}`), 'source')
    await arrivals.idle()
    await clock.goOn(600_000)
    t.ok(countOf('busy') < 2_300, 'a pod that ends waits for no pace')
  },
)

t.test('each resource of a list takes a place; those that find none wait for the others', async (t) => {
  const most = MOST_UNSIGNED + 10
  const running = { now: 0, most: 0 }
  const { arrivals } = stage({
    async handle() {
      running.now += 1
      running.most = Math.max(running.most, running.now)
      await pause(5)
      running.now -= 1
    },
  })
  t.equal(await arrivals.follow(posted('list', numbered(most)), 'anybody'), 'done')
  t.ok(running.most <= MOST_UNSIGNED, `${running.most} at once`)
})

for (const form of ['list', 'batch'] as const)
  t.test(`a ${form} whose resources find no place in 25 s is to come again`, async (t) => {
    const { promise: finished, resolve: finish } = Promise.withResolvers<undefined>()
    const { arrivals, handled } = stage({
      async handle({ name }) {
        handled.push(name)
        await finished
      },
    })
    t.equal(await arrivals.follow(posted(form, numbered(MOST_UNSIGNED + 1)), 'anybody'), 'no room')
    t.equal(handled.length, MOST_UNSIGNED)
    finish(undefined)
    await arrivals.idle()
    t.equal(await arrivals.follow(posted(form, ['again']), 'anybody'), 'done')
  })

t.test('an event that finds no place is answered at once', async (t) => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<undefined>()
  const { arrivals } = stage({ handle: () => finished })
  const begun = numbered(MOST_UNSIGNED).map((name) => arrivals.follow(posted('event', [name]), 'anybody'))
  for (const form of ['event', 'watched'] as const)
    t.equal(await arrivals.follow(posted(form, ['late']), 'anybody'), 'no room')
  finish(undefined)
  t.strictSame(new Set(await Promise.all(begun)), new Set(['done']))
})

t.test('a list is answered after 25 s, and what it began goes on', async (t) => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<undefined>()
  const { arrivals } = stage({ handle: () => finished })
  t.equal(await arrivals.follow(posted('list', ['a']), 'anybody'), 'done')
  const idle = arrivals.idle().then(() => 'idle')
  t.equal(await Promise.race([idle, pause(0, 'busy')]), 'busy')
  finish(undefined)
  t.equal(await idle, 'idle')
})

for (const [title, names, hints] of [
  ['who sends one event after the other waits for no end of an attempt', ['a'], []],
  [
    'who sends one event after the other waits for no end of a search',
    [],
    [{ about: 'object', object: { namespace: 'shop', name: 'git' } }],
  ],
] as const)
  t.test(title, async (t) => {
    const { promise: finished, resolve: finish } = Promise.withResolvers<undefined>()
    const searches = { ...NO_SEARCHES, lookFor: () => ({ ended: finished, isShared: false }) }
    const { arrivals } = stage({ handle: () => finished, searches })
    const followed = arrivals.follow(posted('watched', names, hints), 'anybody')
    t.equal(await Promise.race([followed, pause(4_000, 'open', { ref: false })]), 'done')
    const idle = arrivals.idle().then(() => 'idle')
    t.equal(await Promise.race([idle, pause(0, 'busy')]), 'busy', 'it goes on')
    finish(undefined)
    t.equal(await idle, 'idle')
  })

for (const form of ['event', 'batch'] as const)
  t.test(`the answer waits for the end of each ${form}`, async (t) => {
    const { promise: finished, resolve: finish } = Promise.withResolvers<undefined>()
    const { arrivals } = stage({ handle: () => finished })
    const followed = arrivals.follow(posted(form, ['a']), 'anybody')
    t.equal(await Promise.race([followed, pause(400, 'open')]), 'open')
    finish(undefined)
    t.equal(await followed, 'done')
  })

t.test('a list of which something could not be written is to come again', async (t) => {
  const failures = new Map<string, Error>([
    ['b', new Failure('NetworkError', 'The API server could not be reached.')],
    ['c', new TypeError('a bug')],
  ])
  const { arrivals, handled, lines } = stage({
    async handle({ name }) {
      const failure = failures.get(name)
      if (failure !== undefined) throw failure
      handled.push(name)
    },
  })
  t.equal(await arrivals.follow(posted('list', ['a', 'b', 'c', 'd']), 'anybody'), 'failed')
  t.strictSame(handled, ['a', 'd'])
  t.match(lines, [
    {
      level: 40,
      reason: 'NetworkError',
      cause: 'The API server could not be reached.',
      msg: 'nothing could be written',
    },
    { level: 50, msg: 'event could not be handled' },
  ])
})

t.test('what a search has found has the places of the webhook, and the answer waits for it', async (t) => {
  const asked: unknown[] = []
  const { arrivals, handled, places } = stage({
    searches: {
      async sweep(begin) {
        asked.push('sweep', begin(refTo('due')))
      },
      lookFor(objects, begin, sender) {
        asked.push(objects, sender, begin(refTo('waits')))
        return NO_SEARCH
      },
    },
  })
  const taken = numbered(MOST_UNSIGNED).map((name) => places.take('anybody', name))
  const about = (name: string): Hint => ({ about: 'object', object: { namespace: 'shop', name } })
  const hints: readonly Hint[] = [{ about: 'everything' }, about('git'), about('settings')]
  t.equal(await arrivals.follow(posted('event', [], hints), 'anybody'), 'done')
  t.strictSame(asked, ['sweep', true, { namespace: 'shop', names: ['git', 'settings'] }, 'anybody', true])
  t.strictSame(handled, ['shop/due', 'shop/waits'])
  for (const leave of taken) leave?.()
})

t.test('each namespace of a list that is to be searched counts as an event, once', async (t) => {
  const sought: (string | undefined)[] = []
  const lookFor: Searches['lookFor'] = ({ namespace }) => {
    sought.push(namespace)
    return NO_SEARCH
  }
  const about = (namespaces: readonly string[]): Posted => {
    const objects = namespaces.map((namespace) => ({ namespace, name: 'git' }))
    return posted(
      'list',
      [],
      objects.map((object) => ({ about: 'object', object })),
    )
  }
  const places = openEventPlaces(true, () => 0)
  const { arrivals } = stage({ searches: { ...NO_SEARCHES, lookFor }, places })
  t.equal(await arrivals.follow(about(['shop', 'team', 'shop']), 'anybody'), 'done')
  t.strictSame(sought, ['shop', 'team'])
  t.equal(await arrivals.follow(about(numbered(MOST_UNSIGNED * 2)), 'anybody'), 'no room')
  t.equal(sought.length, MOST_UNSIGNED + 2, 'the first of each list was counted with it')
  t.notOk(places.admits('anybody'))
})

const ABOUT_AN_OBJECT: readonly Hint[] = [{ about: 'object', object: { namespace: 'shop', name: 'git' } }]
const A_TENTH = MOST_UNSIGNED * 10 - 9

for (const [title, hints, isShared, most] of [
  [
    'an event of an ApiServerSource that asks for a new search counts as a read',
    ABOUT_AN_OBJECT,
    false,
    MOST_UNSIGNED,
  ],
  ['one that asks for a search that is planned already counts as a tenth', ABOUT_AN_OBJECT, true, A_TENTH],
  ['one that asks for nothing, such as about a deletion, counts as a tenth', [], false, A_TENTH],
] as const)
  t.test(title, async (t) => {
    const places = openEventPlaces(true, () => 0)
    const lookFor = () => ({ ...NO_SEARCH, isShared })
    const { arrivals } = stage({ searches: { ...NO_SEARCHES, lookFor }, places })
    let count = 0
    while (places.admits('anybody')) {
      if ((await arrivals.follow(posted('watched', [], hints), 'anybody')) === 'done') count += 1
    }
    t.ok(Math.abs(count - most) <= 1, `${count} events`)
  })

t.test('a sweep that takes long is answered after 25 s', async (t) => {
  const { promise: finished, resolve: finish } = Promise.withResolvers<undefined>()
  const { arrivals } = stage({ searches: { ...NO_SEARCHES, sweep: () => finished } })
  t.equal(await arrivals.follow(posted('event', [], [{ about: 'everything' }]), 'anybody'), 'done')
  finish(undefined)
})

t.test('events that were too large to be read are counted in the log', async (t) => {
  const { arrivals, lines } = stage()
  await arrivals.follow({ ...posted('list', []), skipped: 3 }, 'anybody')
  t.match(lines, [{ level: 40, events: 3 }])
})
