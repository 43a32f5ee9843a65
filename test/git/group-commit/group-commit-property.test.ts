import { mock } from 'node:test'
import fc from '../../harness/fast-check.ts'
import t from 'tap'
import type { Landed } from '../../../functions/domain/commit/change.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import type { ClaimCheck } from '../../../functions/domain/resource/claims.ts'
import type { Pushed } from '../../../functions/git/remote.ts'
import { makeGroupCommit, type GroupCommit } from '../../../functions/git/group-commit/group-commit.ts'
import { land } from '../../../functions/git/writer/land.ts'
import { sized } from '../../harness/sample.ts'
import { addressOf, changeOf, loginOf } from '../stage.ts'
import { memoryRepository, URL, type MemoryRepository } from '../writer/memory-remote.ts'

/** One step of a run. Numbers choose among what there is. */
type Step =
  | {
      readonly do: 'push'
      readonly path: number
      readonly login: number
      readonly claim: 'holds' | 'is lost'
    }
  | { readonly do: 'abort' | 'arrive'; readonly which: number }
  | { readonly do: 'expect' | 'commit' }
  | { readonly do: 'fault'; readonly fault: Fault }
  | { readonly do: 'wait'; readonly ms: number }

/** What becomes of one push, whatever it holds. */
type Fault = 'race' | 'lands unheard' | 'is lost' | 'breaks'

/** A change that was handed in, and what is known of it. */
interface Handed {
  readonly name: string
  readonly step: Extract<Step, { readonly do: 'push' }>
  readonly abort: AbortController
  readonly endings: (Landed | Failure)[]
}

const BAD = 0
const DEADLINE_MS = 30_000
const LOST = new Failure('Conflict', 'Another attempt has taken over.')
const REFUSED = { kind: 'refused', failure: new Failure('PushRejected', 'No.'), each: true } as const
const BROKEN = new Failure('NetworkError', 'It broke.')

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('push' as const),
      // One in ten is refused by the server.
      path: fc.integer({ min: 0, max: 9 }),
      login: fc.integer({ min: 0, max: 1 }),
      claim: fc.oneof(
        { weight: 9, arbitrary: fc.constant('holds' as const) },
        { weight: 1, arbitrary: fc.constant('is lost' as const) },
      ),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('abort' as const, 'arrive' as const), which: fc.nat() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('expect' as const, 'commit' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('fault' as const),
      fault: fc.constantFrom<Fault>('race', 'lands unheard', 'is lost', 'breaks'),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 300 }) }),
  },
)

/** Sessions with the remote, one at a time. */
function oneSession() {
  const waiting: (() => void)[] = []
  let held = 0
  function leave(): void {
    held -= 1
    const next = waiting.shift()
    if (next === undefined) return
    held += 1
    next()
  }
  async function acquire(_owner: unknown, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (held === 0) {
      held += 1
      return leave
    }
    const { promise, resolve, reject } = Promise.withResolvers<undefined>()
    const start = (): void => resolve(undefined)
    waiting.push(start)
    signal.addEventListener('abort', () => {
      const at = waiting.indexOf(start)
      if (at >= 0) waiting.splice(at, 1)
      reject(new Error('given up'))
    })
    await promise
    return leave
  }
  return { acquire, held: () => held }
}

/** A group commit on a repository in memory, and what a run does with them. */
function stage() {
  const repository = memoryRepository()
  const session = oneSession()
  const faults: Fault[] = []
  const happened = new Set<Fault>()
  repository.onPush = (commits, push): Pushed | undefined => {
    const fault = faults.shift()
    if (fault !== undefined) happened.add(fault)
    if (fault === 'breaks') throw BROKEN
    if (fault === 'race') return { kind: 'race' }
    if (commits.some(({ files }) => files.some(({ path }) => path === `${BAD}.md`))) return REFUSED
    if (fault === 'lands unheard') push.land()
    return fault === undefined ? undefined : { kind: 'unknown' }
  }
  const groupCommit = makeGroupCommit({
    acquire: session.acquire,
    async *land({ changes, ...landing }) {
      const remote = repository.open()
      try {
        yield* land(remote, { ...landing, batch: changes })
      } finally {
        await remote.close()
      }
    },
  })
  return { repository, session, faults, happened, groupCommit }
}

function handIn(groupCommit: GroupCommit, step: Handed['step'], number: number): Handed {
  const abort = new AbortController()
  const change = changeOf(URL, `${step.path}.md`, { text: `content ${number}` })
  const handed: Handed = { name: `change ${number}`, step, abort, endings: [] }
  const claim: ClaimCheck = {
    confirm: () => (step.claim === 'holds' ? Promise.resolve() : Promise.reject(LOST)),
    remaining: () => (step.claim === 'holds' ? 25_000 : 0),
  }
  const named = { ...change, message: change.message.replace(/^.*/, handed.name) }
  const note = (ending: Landed | Failure): unknown => handed.endings.push(ending)
  groupCommit.push(named, loginOf(`login ${step.login}`), abort.signal, { claim }).then(note, note)
  return handed
}

/** Lets the time pass in pieces, and everything happen that follows. */
async function pass(ms: number): Promise<void> {
  for (let left = ms; left >= 0; left -= 50) {
    for (let i = 0; i < 4; i += 1) await new Promise(setImmediate)
    mock.timers.tick(Math.min(50, Math.max(0, left)))
  }
}

/** Lets time pass until that is so; the pauses between rounds are real ones. */
async function passUntil(holds: () => boolean): Promise<void> {
  const end = performance.now() + DEADLINE_MS
  while (!holds()) {
    if (performance.now() > end) throw new Error('It is still at work')
    await pass(1_000)
  }
}

async function run(steps: readonly Step[]): Promise<void> {
  const { repository, session, faults, happened, groupCommit } = stage()
  const handed: Handed[] = []
  const expected: (() => void)[] = []
  let others = 0
  for (const step of steps) {
    if (step.do === 'push') handed.push(handIn(groupCommit, step, handed.length))
    else if (step.do === 'abort') handed[step.which % Math.max(1, handed.length)]?.abort.abort()
    else if (step.do === 'expect')
      expected.push(groupCommit.expect({ repository: addressOf(URL), branch: 'main', namespace: 'shop' }))
    else if (step.do === 'arrive') expected.splice(step.which % Math.max(1, expected.length), 1)[0]?.()
    else if (step.do === 'fault') faults.push(step.fault)
    else if (step.do === 'wait') await pass(step.ms)
    else repository.commit({ 'other.md': String((others += 1)) }, { message: `other ${others}\n` })
  }
  await passUntil(() => handed.every(({ endings }) => endings.length > 0))
  // Where all were given up, it may still gather changes: that ends with time.
  let isIdle = false
  void groupCommit.idle().then(() => (isIdle = true))
  await passUntil(() => isIdle)
  check(handed, repository, happened)
  if (session.held() !== 0 || repository.opened !== 0) throw new Error('A session is left')
  const written = repository.log().filter((subject) => subject.startsWith('other'))
  if (written.length !== others) throw new Error("Another writer's commit is lost")
}

/** The model: what a change may end in, and how often its commit is in the history then. */
function check(handed: readonly Handed[], repository: MemoryRepository, happened: ReadonlySet<Fault>): void {
  const log = repository.log().toReversed()
  for (const { name, step, abort, endings } of handed) {
    const [ending] = endings
    const count = log.filter((subject) => subject === name).length
    const what = `${name}: ${count} commits, ended ${endings.length} times: ${String(ending instanceof Failure ? ending.reason : ending?.outcome)}`
    if (ending === undefined || endings.length !== 1 || count > 1) throw new Error(what)
    const hasLanded = !(ending instanceof Failure)
    if (hasLanded && count !== 1) throw new Error(what)
    if ((step.path === BAD || step.claim === 'is lost') && count > 0) throw new Error(what)
    const allowed = [
      ...(step.path === BAD ? ['PushRejected'] : []),
      ...(step.claim === 'is lost' ? ['Conflict'] : []),
      ...(abort.signal.aborted ? ['Timeout'] : []),
      ...(happened.has('breaks') ? ['NetworkError'] : []),
    ]
    const isFine = ending instanceof Failure ? allowed.includes(ending.reason) : step.path !== BAD
    if (!isFine) throw new Error(what)
  }
  for (const login of [0, 1]) {
    const names = handed.filter(({ step }) => step.login === login).map(({ name }) => name)
    const landed = log.filter((subject) => names.includes(subject))
    if (landed.join() !== names.filter((name) => landed.includes(name)).join())
      throw new Error('The order has changed')
  }
}

t.test('each accepted change ends exactly once, as a simple model says', { timeout: 300_000 }, async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 60 }), run)
  await fc.assert(property, { numRuns: sized(60, 3_000) })
  t.pass('no schedule was found that breaks it')
})

t.test('of 100 changes one is refused, and 99 land', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const { repository, groupCommit } = stage()
  const handed = Array.from({ length: 100 }, (_, i) =>
    handIn(groupCommit, { do: 'push', path: i === 37 ? BAD : 1, login: 0, claim: 'holds' }, i),
  )
  for (let i = 0; i < 50 && handed.some(({ endings }) => endings.length === 0); i += 1) await pass(100)
  const refused = handed.filter(({ endings: [ending] }) => ending instanceof Failure)
  t.match(refused, [{ name: 'change 37', endings: [{ reason: 'PushRejected' }] }])
  t.equal(repository.log().length, 100)
  t.ok(repository.pushes <= 2 * Math.ceil(Math.log2(100)) + 1, `${repository.pushes} pushes`)
})
