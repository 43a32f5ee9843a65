import { setImmediate } from 'node:timers/promises'
import fc from '../harness/fast-check.ts'
import t from 'tap'
import { handle } from '../../functions/attempt/attempt.ts'
import { finder } from '../../functions/attempt/find.ts'
import { openClaimKeeper } from '../../functions/attempt/claim-keeper.ts'
import type { Change, Landed } from '../../functions/domain/commit/change.ts'
import { sourceDigest } from '../../functions/domain/commit/source-digest.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { ReferenceField } from '../../functions/domain/spec/spec.ts'
import type { Status } from '../../functions/domain/resource/stored-status.ts'
import type { PushTerms, World } from '../../functions/world.ts'
import { gitCommit, memoryWorld, STAMPED } from '../harness/memory-world.ts'
import { sized } from '../harness/sample.ts'

const NOW = Date.parse('2026-03-01T10:00:00Z')
const REF = { kind: 'GitCommit', namespace: 'team', name: 'shop' } as const
const FIELD: ReferenceField = 'spec.resourceRef'
const CLAIM_S = 31
/** A week: every retry is due. */
const LATER_S = 7 * 24 * 3_600

/** What becomes of a push: carried out or not, and answered or not; `late`: carried out at any time, if it still can be. */
type Fate = 'done' | 'lost' | 'unsent' | 'late'

type Step =
  | { readonly do: 'change' }
  | { readonly do: 'wait' }
  | { readonly do: 'land' }
  /** An event reaches both replicas, or one; a replica ends at its call of this number, and the first push has this fate. */
  | {
      readonly do: 'event'
      readonly replicas: 1 | 2
      readonly crashAt: number | undefined
      readonly fate: Fate
      readonly pace: readonly number[]
    }

interface Commit {
  readonly id: string
  readonly content: string
}

/** A cluster and a remote, which a writer uses as functions/git does: search, compare, push by compare-and-swap. */
function system() {
  const memory = memoryWorld()
  const clock = { seconds: 0 }
  const branch: Commit[] = [{ id: '', content: '' }]
  const late: { readonly lease: number; readonly commit: Commit }[] = []
  const versions = new Map<string, number>()
  const requester = JSON.stringify({ username: 'developer', groups: ['developers'], at: new Date(NOW) })
  memory.cluster.apply(gitCommit({ sync: 'OnChange' }, { ...STAMPED, 'commitlet.dev/requester': requester }))
  const { spec, metadata } = memory.cluster.get('GitCommit', 'team', 'shop') ?? gitCommit()

  /** A, B, A, B: the content comes back, and the version does not. */
  function change(): void {
    const version = versions.size + 1
    const data = { colour: version % 2 === 0 ? 'even' : 'odd' }
    const stored = memory.cluster.apply({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'shop', namespace: 'team' },
      data,
    })
    const seen = new Map([
      [FIELD, `${String(stored.metadata['uid'])}/${String(stored.metadata['resourceVersion'])}`],
    ])
    versions.set(sourceDigest(String(metadata['uid']), spec as never, seen), version)
  }

  function land(lease: number, commit: Commit): boolean {
    if (branch.length !== lease) return false
    branch.push(commit)
    return true
  }

  function found({ id, files: [file] }: Pick<Change, 'id' | 'files'>): Landed | undefined {
    const isThere = file !== undefined && branch.some((commit) => commit.id === id && commit.content !== '')
    return isThere ? { outcome: 'found', sha: 'b'.repeat(40), branch: 'main' } : undefined
  }

  async function push(one: Change, terms: PushTerms, take: () => Fate): Promise<Landed> {
    for (;;) {
      const before = one.since === undefined ? undefined : found(one)
      if (before !== undefined) return before
      const lease = branch.length
      const content = String(one.files[0]?.content)
      const last = branch.findLast((commit) => commit.content !== '')?.content
      await setImmediate()
      if (last === content && one.latePush !== true)
        return { outcome: 'unchanged', sha: 'c'.repeat(40), branch: 'main' }
      // One that only holds off earlier pushes has no content.
      const commit = { id: one.id, content: last === content ? '' : content }
      await terms.claim.confirm()
      terms.pushWatch?.sent()
      const fate = take()
      await setImmediate()
      const lost = new Failure('NetworkError', 'The answer was lost.')
      if (fate === 'late') late.push({ lease, commit })
      if (fate === 'late' || fate === 'unsent') throw lost
      const isLanded = land(lease, commit)
      if (fate === 'lost') throw lost
      terms.pushWatch?.answered(isLanded)
      if (isLanded && commit.content === '')
        return { outcome: 'unchanged', sha: 'c'.repeat(40), branch: 'main' }
      if (isLanded) return { outcome: 'pushed', sha: 'a'.repeat(40), branch: 'main' }
    }
  }

  /** One replica handles an event; at its call of the number `crashAt` it ends, and does nothing any more. */
  async function event(step: Step & { readonly do: 'event' }, number: number): Promise<void> {
    let calls = 0
    const fates = number === 0 ? [step.fate] : []
    const crashAt = number === 0 ? step.crashAt : undefined
    const { promise: ended, reject } = Promise.withResolvers<never>()
    ended.catch(() => undefined)
    async function alive(): Promise<void> {
      calls += 1
      for (let turns = step.pace[calls % step.pace.length] ?? 0; turns > 0; turns -= 1) await setImmediate()
      if (calls < (crashAt ?? Infinity)) return
      reject(new Error('The process has ended.'))
      await new Promise(() => undefined)
    }
    const guarded =
      <A extends readonly unknown[], R>(call: (...of: A) => Promise<R>) =>
      async (...of: A): Promise<R> => {
        await alive()
        const result = await call(...of)
        await alive()
        return result
      }
    const before = memory.cluster
    const cluster = {
      ...before,
      readResource: guarded(before.readResource.bind(before)),
      readObject: guarded(before.readObject.bind(before)),
      readVersion: guarded(before.readVersion.bind(before)),
      patchStatus: guarded(before.patchStatus.bind(before)),
    }
    const clocks = { now: () => new Date(NOW + clock.seconds * 1000), elapsed: () => clock.seconds * 1000 }
    const world: World = {
      ...memory,
      ...clocks,
      cluster,
      keepClaim: openClaimKeeper({ cluster, ...clocks }),
      find: guarded(async (draft) => found({ ...draft, files: draft.files.map(({ path }) => ({ path })) })),
      push: guarded((one, _login, terms) => push(one, terms, () => fates.pop() ?? 'done')),
    }
    const handling = handle(REF, finder(cluster, { reads: 8, waits: 8 }), world)
    await Promise.race([handling, ended]).catch(() => undefined)
  }

  const status = (): Status => memory.cluster.get('GitCommit', 'team', 'shop')?.status as Status
  change()
  return { branch, late, versions, clock, status, change, land, event }
}

const QUIET = { do: 'event', replicas: 1, crashAt: undefined, fate: 'done', pace: [0] } as const

/** Which promise is broken; undefined if none is. */
async function broken(steps: readonly Step[]): Promise<string | undefined> {
  const { branch, late, versions, clock, status, change, land, event } = system()
  async function take(step: Step): Promise<void> {
    if (step.do === 'change') change()
    if (step.do === 'wait') clock.seconds += CLAIM_S
    if (step.do === 'land') for (const { lease, commit } of late.splice(0, 1)) land(lease, commit)
    if (step.do === 'event')
      await Promise.all(Array.from({ length: step.replicas }, (_, i) => event(step, i)))
  }
  for (const step of steps) await take(step)
  for (let rounds = 0; rounds < 4; rounds += 1) {
    clock.seconds += LATER_S / 10
    await take(QUIET)
  }
  for (const { lease, commit } of late.splice(0)) land(lease, commit)
  const commits = branch.filter(({ content }) => content !== '')
  const order = commits.map(({ id }) => versions.get(id.split('.').at(-1) ?? '') ?? 0)
  const wanted = `colour: ${versions.size % 2 === 0 ? 'even' : 'odd'}`
  const { phase, sync } = status()
  if (phase !== 'Succeeded') return `settled: ${phase}`
  if (new Set(order).size !== order.length) return `none twice: ${order.join()}`
  if (order.some((version, i) => i > 0 && version < (order[i - 1] ?? 0))) return `in order: ${order.join()}`
  if (commits.at(-1)?.content.includes(wanted) !== true) return `the last state: ${order.join()}`
  if (versions.get(sync?.digest ?? '') !== versions.size) return 'the last state was seen'
  if ((sync?.commits ?? 0) > order.length) return `counted twice: ${sync?.commits} of ${order.length}`
  // A push that is carried out between the search for it and the next push is on the branch, and nobody counts it.
  const isLate = steps.some((step) => step.do === 'event' && step.fate === 'late')
  if (!isLate && sync?.commits !== order.length) return `each is counted: ${sync?.commits} of ${order.length}`
  return undefined
}

const event = fc.record({
  do: fc.constant('event' as const),
  replicas: fc.constantFrom(1 as const, 2 as const),
  crashAt: fc.option(fc.integer({ min: 1, max: 24 }), { nil: undefined }),
  fate: fc.constantFrom<Fate>('done', 'done', 'lost', 'unsent', 'late'),
  pace: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 5 }),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: event },
  { weight: 3, arbitrary: fc.constant({ do: 'change' } as const) },
  { weight: 2, arbitrary: fc.constant({ do: 'wait' } as const) },
  { weight: 1, arbitrary: fc.constant({ do: 'land' } as const) },
)

t.test(
  'A, B, A, crashes, lost answers, late pushes and two replicas: the promises of a follower hold',
  async (t) => {
    const runs = sized(60, 5_000)
    const property = fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 16 }), async (steps) => {
      const promise = await broken(steps)
      if (promise !== undefined) throw new Error(promise)
    })
    await fc.assert(property, { numRuns: runs })
    t.pass(`${runs} schedules`)
  },
)

t.test('without faults each change that was seen is counted', async (t) => {
  const { branch, event: handled, change, status } = system()
  for (let version = 1; version <= 5; version += 1) {
    await handled(QUIET, 0)
    change()
  }
  await handled(QUIET, 0)
  t.equal(branch.length - 1, 6)
  t.equal(status().sync?.commits, 6)
})
