import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { Change, Landed } from '../../../functions/domain/commit/change.ts'
import { asFailure, Failure } from '../../../functions/domain/failure.ts'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { guardRemotes } from '../../../functions/login/guarded-remotes.ts'
import { ATTEMPT, memoryWorld } from '../../harness/memory-world.ts'
import { pacedClock } from '../../harness/paced-clock.ts'

const HOUR_S = 3_600
const OPERATORS = {
  method: 'password',
  username: 'x',
  password: 'y',
  identity: 'operator',
  secrets: [],
  ofOperator: true,
} as const
const PUSHED = { outcome: 'pushed', sha: 'a'.repeat(40), branch: 'main' } as const
const TOLD = { reason: 'RateLimited', message: 'Fewer, please.' }
const WAITS = { reason: 'RateLimited', message: /^git\.example\.com has asked for fewer requests/ }

/** A host that limits what a test names, and namespaces that push there with the operator's login. */
function stage() {
  const clock = pacedClock()
  /** When the limit of a repository ends, or that of the login. */
  const limits = new Map<string, number>()
  /** The repositories of all requests that the host has had. */
  const asked: string[] = []
  /** How long the host takes with a repository, where that is not 100 ms. */
  const slow = new Map<string, number>()

  async function push({ repository }: Change): Promise<Landed> {
    const name = repository.segments.join('/')
    asked.push(name)
    const left = Math.max(limits.get(name) ?? 0, limits.get('login') ?? 0) - clock.elapsed()
    await clock.wait(slow.get(name) ?? 100)
    if (left <= 0) return PUSHED
    throw new Failure('RateLimited', TOLD.message, { retryAfterSeconds: left / 1_000 })
  }

  const { find, withPullRequests } = memoryWorld()
  const issueToken = (): Promise<never> => Promise.reject(new Error('There are no Apps here'))
  const guarded = guardRemotes({ push, find, withPullRequests, issueToken }, { failedLogins: 5, ...clock })

  /** Pushes, and lets the time pass until all of it has ended. */
  async function pushes(...those: readonly Pushing[]): Promise<readonly unknown[]> {
    const ended = Promise.all(those.map((one) => begin(one)))
    await pass(0.1 * (those.length + 1))
    return ended
  }

  function begin({
    namespace,
    path = `${namespace}/config`,
    isRequested = false,
  }: Pushing): Promise<unknown> {
    const repository = parseRepositoryAddress(`https://git.example.com/${path}.git`)
    const change = { namespace, repository, id: 'uid.1', files: [], isRequested } as unknown as Change
    return guarded.push(change, OPERATORS, ATTEMPT).catch(asFailure)
  }

  async function pass(seconds: number): Promise<void> {
    const until = clock.elapsed() + seconds * 1_000
    for (let i = 0; i < 50; i += 1) await setImmediate()
    await clock.goOn(until)
    for (let i = 0; i < 50; i += 1) await setImmediate()
  }

  return {
    asked,
    slow,
    begin,
    pushes,
    pass,
    elapsed: clock.elapsed,
    limit: (what: string, seconds = HOUR_S) => void limits.set(what, clock.elapsed() + seconds * 1_000),
  }
}

interface Pushing {
  readonly namespace: string
  readonly path?: string
  readonly isRequested?: boolean
}

function teams(count: number, from = 0): readonly Pushing[] {
  return Array.from({ length: count }, (_, i) => ({ namespace: `team-${from + i}` }))
}

function evils(count: number): readonly Pushing[] {
  return Array.from({ length: count }, (_, i) => ({ namespace: `evil-${i}` }))
}

t.test('a limit of one repository keeps no other namespace with the same login waiting', async (t) => {
  const { asked, limit, pushes, pass } = stage()
  const evil = { namespace: 'evil' }
  limit('evil/config')
  t.match(await pushes(evil), [{ ...TOLD, retryAfterSeconds: HOUR_S }])
  t.match(
    await pushes(...teams(10)),
    teams(10).map(() => PUSHED),
  )
  const others = { namespace: 'team-0', path: 'Evil/config' }
  t.match(await pushes(evil, others), [WAITS, WAITS], 'it holds for all who use the repository')
  await pass(HOUR_S - 10)
  t.match(await pushes(evil, others), [WAITS, WAITS])
  t.equal(asked.filter((name) => name === 'evil/config').length, 1)
  await pass(10)
  t.match(await pushes(evil), [PUSHED])
})

t.test(
  'a limit of the login is known after requests of two namespaces, however many others come',
  async (t) => {
    const { asked, limit, pushes, pass, elapsed } = stage()
    limit('login')
    t.match(await pushes(...teams(1)), [TOLD])
    t.match(await pushes(...teams(50)), [WAITS, TOLD, ...teams(48).map(() => WAITS)])
    t.equal(asked.length, 2)
    while (elapsed() < 3_590_000) await pushes(...teams(50))
    t.ok(asked.length <= 40, `${asked.length} requests in an hour`)
    await pass(20)
    t.match(
      await pushes(...teams(50)),
      teams(50).map(() => PUSHED),
    )
    limit('login')
    t.match(await pushes(...teams(1)), [TOLD])
    t.match(
      await pushes(...teams(50)),
      [WAITS, TOLD, ...teams(48).map(() => WAITS)],
      'and so is the next one',
    )
  },
)

t.test(
  'a namespace that has met a limit waits for it with the same login elsewhere, until others show that it is none of the login',
  async (t) => {
    const { limit, pushes } = stage()
    limit('team-0/config')
    const elsewhere = { namespace: 'team-0', path: 'team-0/other' }
    t.match(await pushes({ namespace: 'team-0' }), [TOLD])
    t.match(await pushes(elsewhere), [WAITS])
    t.match(await pushes({ namespace: 'team-1' }), [PUSHED])
    t.match(await pushes(elsewhere), [PUSHED])
  },
)

t.test('namespaces that share a limited repository may push elsewhere', async (t) => {
  const { limit, pushes } = stage()
  limit('shared/config')
  const shared = teams(3).map((team) => ({ ...team, path: 'shared/config' }))
  t.match(
    await pushes(...shared),
    shared.map(() => TOLD),
  )
  t.match(
    await pushes(...teams(3)),
    teams(3).map(() => PUSHED),
  )
  t.match(
    await pushes(...shared),
    shared.map(() => WAITS),
  )
})

t.test(
  'ten namespaces that are limited at once keep others waiting for less than a minute, and never again',
  async (t) => {
    const { limit, pushes, pass } = stage()
    const limitAll = (): void => evils(10).forEach(({ namespace }) => limit(`${namespace}/config`))
    limitAll()
    t.match(
      await pushes(...evils(10)),
      evils(10).map(() => TOLD),
    )
    const [waits] = await pushes(...teams(1))
    t.match(waits, WAITS)
    const { retryAfterSeconds = NaN } = waits as Failure
    t.ok(retryAfterSeconds < 60, `${retryAfterSeconds} s`)
    await pass(retryAfterSeconds)
    t.match(
      await pushes(...teams(10)),
      teams(10).map(() => PUSHED),
    )
    for (let period = 0; period < 5; period += 1) {
      await pass(600)
      evils(10).forEach(({ namespace }, i) => limit(`${namespace}/config-${period}-${i}`, 60))
      const elsewhere = evils(10).map((evil, i) => ({
        ...evil,
        path: `${evil.namespace}/config-${period}-${i}`,
      }))
      t.match(
        await pushes(...elsewhere),
        elsewhere.map(() => TOLD),
      )
      t.match(
        await pushes(...teams(10)),
        teams(10).map(() => PUSHED),
      )
    }
  },
)

t.test('what is requested again and again, at one repository or many, keeps others no longer', async (t) => {
  const { asked, slow, limit, pushes, begin, pass } = stage()
  limit('evil-0/config')
  t.match(await pushes(...evils(1)), [TOLD])
  slow.set('team-0/config', 1_500)
  const other = begin({ namespace: 'team-0' })
  for (let i = 0; i < 10; i += 1) {
    limit(`evil-0/config-${i}`)
    for (const path of ['evil-0/config', `evil-0/config-${i}`])
      t.match(await pushes({ namespace: 'evil-0', path, isRequested: true }), [TOLD])
  }
  await pass(0.1)
  t.match(await other, PUSHED)
  t.equal(asked.length, 22)
  const many = [1, 2, 3].map(() => begin({ namespace: 'team-0' }))
  await pass(1.6)
  t.match(await Promise.all(many), [PUSHED, PUSHED, PUSHED], 'all at once')
  t.match(await pushes({ namespace: 'evil-0', isRequested: true }), [TOLD])
  t.match(await pushes({ namespace: 'evil-0', path: 'evil-0/other' }), [PUSHED])
})

t.test(
  'namespaces that try what tells nothing keep others from their try for three minutes at most',
  async (t) => {
    const { slow, limit, pushes, begin, pass, elapsed } = stage()
    for (const { namespace } of evils(2)) limit(`${namespace}/config`)
    t.match(await pushes(...evils(2)), [TOLD, TOLD])
    for (const { namespace } of evils(10)) slow.set(`${namespace}/slow`, HOUR_S * 1_000)
    for (let ended: unknown; ended !== PUSHED && elapsed() < HOUR_S * 1_000;) {
      for (const { namespace } of evils(10).slice(2)) void begin({ namespace, path: `${namespace}/slow` })
      const other = begin({ namespace: 'team-0' })
      await pass(1)
      ended = await Promise.race([other, setImmediate()])
    }
    t.ok(elapsed() < 180_000, `${elapsed()} ms`)
  },
)

t.test('who has tried often waits no longer at the next limit', async (t) => {
  const { slow, limit, pushes, begin, pass } = stage()
  slow.set('team-0/slow', HOUR_S * 1_000)
  for (const { namespace } of evils(4)) limit(`${namespace}/config`)
  t.match(await pushes(...evils(2)), [TOLD, TOLD])
  for (let s = 0; s < 80; s += 1) {
    void begin({ namespace: 'team-0', path: 'team-0/slow' })
    await pass(1)
  }
  t.match(await pushes(...teams(1)), [WAITS])
  t.match(await pushes(...teams(1, 1)), [PUSHED])
  t.match(await pushes(...evils(4).slice(2)), [TOLD, TOLD])
  await pass(5)
  t.match(await pushes(...teams(1)), [PUSHED])
})

t.test('of those who try one at a time, one that takes long keeps others for two seconds', async (t) => {
  const { asked, slow, limit, pushes, begin, pass } = stage()
  limit('evil-0/config')
  t.match(await pushes(...evils(1)), [TOLD])
  slow.set('evil-1/config', 60_000)
  const long = [1, 2, 3].map(() => begin({ namespace: 'evil-1' }))
  const other = begin({ namespace: 'team-0' })
  await pass(1.9)
  t.strictSame(asked.slice(1), ['evil-1/config'])
  await pass(0.3)
  t.match(await other, PUSHED)
  t.strictSame(asked.slice(1), ['evil-1/config', 'team-0/config', 'evil-1/config', 'evil-1/config'])
  await pass(60)
  t.match(await Promise.all(long), [PUSHED, PUSHED, PUSHED])
})
