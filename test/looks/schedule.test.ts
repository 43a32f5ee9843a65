import t from 'tap'
import { makeSchedule } from '../../functions/looks/schedule.ts'

const TICK_MS = 100
const LOOKS_OF_TICK = 5

interface Missing {
  readonly owner: string
  /** The times of its looks, in milliseconds. */
  readonly looks: number[]
}

/** A schedule whose clock only moves when a test says so, with 50 looks a second, as there are. */
function stage() {
  let now = 0
  const schedule = makeSchedule<Missing>(() => now)
  const waiting: Missing[] = []

  function add(owner: string, isNow = false): Missing {
    const missing = { owner, looks: [] }
    waiting.push(missing)
    schedule.add(missing, isNow)
    return missing
  }

  function tick(): void {
    now += TICK_MS
    for (let looks = 0; looks < LOOKS_OF_TICK; looks += 1) {
      const missing = schedule.take(() => true)
      if (missing === undefined) break
      missing.looks.push(now)
      schedule.putBack(missing)
    }
  }

  /** Each second `eachSecond` is called. */
  function advance(seconds: number, eachSecond: (second: number) => void = () => undefined): void {
    for (let ticks = 0; ticks < seconds * (1000 / TICK_MS); ticks += 1) {
      if (ticks % (1000 / TICK_MS) === 0) eachSecond(ticks / (1000 / TICK_MS))
      tick()
    }
  }

  /** As the search does to which an event leads: everything that waits in this namespace is asked for. */
  function tellOf(owner: string): void {
    for (const missing of waiting) if (missing.owner === owner) schedule.ask(missing)
  }

  /** Looks for half a minute, and tells after how many seconds of it each of these was looked at. */
  function secondsTo(...several: Missing[]): readonly number[] {
    const from = now
    advance(30)
    return several.map(({ looks }) => ((looks.find((at) => at > from) ?? Infinity) - from) / 1000)
  }

  return {
    ...{ add, advance, tellOf, secondsTo, ask: schedule.ask },
    addMany: (owner: string, count: number) => Array.from({ length: count }, () => add(owner)),
  }
}

const TEAMS = Array.from({ length: 10 }, (_, index) => `team-${index}`)

t.test(
  'what was added lately waits for none of the others, whoever asks for all of them all the time',
  (t) => {
    const { add, addMany, tellOf, advance } = stage()
    for (const team of TEAMS) addMany(team, 60)
    const tell = (second: number): void => {
      for (const team of TEAMS.filter((_, index) => index % 4 === second % 4)) tellOf(team)
    }
    advance(60, tell)
    for (let times = 0; times < 10; times += 1) {
      const { looks } = add('team-3')
      const at = 60_000 + times * 10_000
      advance(10, tell)
      t.ok(looks.length >= 3, `${looks.length} looks in 10 s`)
      t.ok(Number(looks[0]) - at <= 1_500, `the first look is after ${Number(looks[0]) - at} ms`)
    }
    t.end()
  },
)

t.test('where there is time for all, none is looked at later because an event had all asked for', (t) => {
  const secondsWhere = (isTold: boolean): readonly number[] => {
    const { addMany, tellOf, advance, secondsTo, add } = stage()
    for (const team of TEAMS) addMany(team, 25)
    // So that the next looks of the others are spread over the next ten seconds.
    advance(60)
    const late = [1, 3, 7, 15].map((seconds) => {
      const missing = add('team-3')
      advance(seconds - 0.5)
      return missing
    })
    if (isTold) tellOf('team-3')
    return secondsTo(...late)
  }
  const [untold, told] = [secondsWhere(false), secondsWhere(true)]
  for (const [index, seconds] of told.entries())
    t.ok(seconds <= Number(untold[index]), `after ${seconds} s, otherwise after ${untold[index]} s`)
  t.end()
})

t.test('looks that others asked for make no later pause longer', (t) => {
  const { add, ask, advance } = stage()
  const [missing, other] = [add('team'), add('other')]
  advance(5, () => ask(missing))
  advance(60)
  t.same(
    missing.looks.slice(0, 5).map((at) => at / 1000),
    [1, 2, 3, 4, 5],
  )
  const pauses = missing.looks.slice(5).map((at, index) => (at - (missing.looks[index + 4] ?? 0)) / 1000)
  t.same(pauses.slice(0, 4), [4, 10, 10, 10], 'as long as what is missing for so long has')
  t.same(other.looks.map((at) => at / 1000).slice(0, 6), [1, 3, 7, 15, 25, 35])
  t.end()
})

t.test('what alone is asked for does not wait for a backlog of its namespace', (t) => {
  const { addMany, ask, advance, secondsTo, add } = stage()
  const old = add('team')
  advance(30)
  addMany('team', 1_000)
  advance(5)
  ask(old)
  t.ok(secondsTo(old, add('team', true)).every((seconds) => seconds <= 0.2))
  t.end()
})
