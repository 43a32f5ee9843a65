import pino from 'pino'
import t from 'tap'
import { makeWaitingSearch } from '../../functions/arrival/waiting-resources.ts'
import { connectCluster } from '../../functions/cluster/connect.ts'
import type { ObjectRef } from '../../functions/domain/resource/resource.ts'
import type { Sender } from '../../functions/event-places.ts'
import { openFollowedObjects } from '../../functions/followed-objects.ts'
import { pacedClock } from '../harness/paced-clock.ts'
import { pagingServer, type StoredResource } from '../harness/paging-server.ts'

/** Of each namespace: more than may begin at once. */
const FOLLOWERS = 700
const NAMESPACES = ['shop', 'team', 'other']

/** `source`: of the follower with this number, in its namespace. */
interface Staged {
  readonly source: (index: number) => string
  readonly everywhere?: boolean
  /** Whether looks are made, so that it becomes known what followers refer to. Default: yes. */
  readonly looks?: boolean
}

/** Followers in three namespaces, by a clock that goes on only where all wait, and when each has begun. */
function stage({ source, everywhere = false, looks = true }: Staged) {
  const api = pagingServer()
  const clock = pacedClock()
  const followed = openFollowedObjects()
  const begun: { readonly name: string; readonly at: number }[] = []
  let generation = 1
  function store(): void {
    const of =
      (namespace: string) =>
      (_: unknown, index: number): StoredResource => ({
        ...{ kind: 'GitCommit', namespace, name: `${index}`, phase: 'Succeeded', reason: 'Succeeded' },
        ...{ observed: generation, generation, follows: '' },
      })
    api.store(NAMESPACES.flatMap((namespace) => Array.from({ length: FOLLOWERS }, of(namespace))))
  }
  const search = makeWaitingSearch(
    { cluster: connectCluster(api.server), log: pino({ level: 'silent' }), ...clock, followed },
    everywhere,
  )
  function begin({ namespace, name, uid = '' }: ObjectRef): boolean {
    begun.push({ name: `${namespace}/${name}`, at: clock.elapsed() })
    const refersTo = [{ namespace, name: source(Number(name)) }]
    if (looks) followed.note({ namespace, uid, generation }, () => refersTo)
    return true
  }
  store()
  return {
    clock,
    begun,
    tell: (sender: Sender, namespace: string, name: string): void =>
      void search({ namespace, names: [name] }, begin, sender),
    /** The milliseconds from then until this follower has begun. */
    tookSince: (then: number, name: string): number =>
      (begun.find((one) => one.name === name && one.at >= then)?.at ?? Infinity) - then,
    /** All specs are other ones. */
    change: (): void => {
      generation += 1
      store()
    },
  }
}

t.test('an event begins the followers of its object, and those of which that is not known yet', async (t) => {
  const { clock, begun, tell, change } = stage({ source: (index) => `source-${index}` })
  const namesSince = (count: number): readonly string[] => begun.slice(count).map(({ name }) => name)
  tell('source', 'shop', 'source-3')
  await clock.goOn(600_000)
  t.equal(begun.length, FOLLOWERS)
  tell('source', 'shop', 'source-3')
  tell('source', 'shop', 'source-4')
  tell('anybody', 'shop', 'source-5')
  tell('anybody', 'shop', 'invented')
  await clock.goOn(660_000)
  t.strictSame(namesSince(FOLLOWERS).toSorted(), ['shop/3', 'shop/4', 'shop/5'])
  change()
  tell('source', 'shop', 'source-3')
  await clock.goOn(1_200_000)
  t.equal(begun.length, FOLLOWERS + 3 + FOLLOWERS, 'another spec may refer to another object')
})

t.test('what names too many objects is about all of them', async (t) => {
  const { clock, begun, tell } = stage({ source: (index) => `source-${index}` })
  tell('source', 'shop', 'source-0')
  await clock.goOn(600_000)
  tell('source', 'shop', 'invented')
  for (let events = 0; events < 11_000; events += 1) tell('source', 'shop', `invented-${events}`)
  await clock.goOn(1_200_000)
  t.equal(begun.length, 2 * FOLLOWERS)
})

t.test('unsigned events take nothing of the pace of what a source with the key tells of', async (t) => {
  const { clock, begun, tell, tookSince } = stage({ source: (index) => (index === 699 ? 'quiet' : 'busy') })
  tell('source', 'shop', 'quiet')
  await clock.goOn(600_000)
  const learned = begun.length
  for (let at = 600_500; at <= 660_000; at += 500) {
    tell('anybody', 'shop', 'busy')
    await clock.goOn(at)
  }
  const unsigned = begun.length - learned
  t.ok(unsigned >= 1_500, `${unsigned} have begun in a minute, and others wait`)
  tell('source', 'shop', 'quiet')
  await clock.goOn(662_000)
  t.ok(tookSince(660_000, 'shop/699') <= 1_000, `${tookSince(660_000, 'shop/699')}`)
  const before = begun.length
  tell('source', 'shop', 'busy')
  await clock.goOn(662_500)
  t.ok(begun.length - before >= 600, `${begun.length - before} have begun at once`)
})

for (const looks of [true, false])
  t.test(
    `changes in one namespace keep no followers of others waiting${looks ? '' : ', also of which nothing is known'}`,
    async (t) => {
      const { clock, begun, tell, tookSince } = stage({
        source: (index) => `source-${index}`,
        everywhere: true,
        looks,
      })
      if (looks) for (const namespace of NAMESPACES) tell('source', namespace, 'source-0')
      await clock.goOn(600_000)
      const learned = begun.length
      for (let at = 601_000; at <= 660_000; at += 1_000) {
        tell('source', 'attacker', 'settings')
        await clock.goOn(at)
      }
      if (looks) t.equal(begun.length, learned)
      tell('source', 'shop', 'source-199')
      await clock.goOn(662_000)
      t.ok(tookSince(660_000, 'shop/199') <= 2_000, `${tookSince(660_000, 'shop/199')}`)
    },
  )
