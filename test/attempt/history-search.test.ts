import t from 'tap'
import { handle } from '../../functions/attempt/attempt.ts'
import { finder } from '../../functions/attempt/find.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import type { Landed } from '../../functions/domain/commit/change.ts'
import { gitCommit, memoryWorld, type MemoryWorld } from '../harness/memory-world.ts'

const REF = { kind: 'GitCommit', namespace: 'team', name: 'shop' } as const
const REQUESTED_AT = 'commitlet.dev/requested-at'
const LANDED: Landed = { outcome: 'pushed', sha: 'e'.repeat(40), branch: 'main' }

/**
 * How the push of an attempt ends: it is never sent, is refused, its answer is lost, or it lands. `ended`: nothing was sent, and the
 * process ends before it can write that.
 */
type Ending = 'unsent' | 'refused' | 'lost' | 'landed' | 'ended'

/** What the user does before an attempt. */
type Edit = (world: MemoryWorld) => void

/** Attempts a minute apart, each with what was done before. For each whose push is reached: whether it searches the history. */
async function searchesOf(attempts: readonly (readonly [Ending, Edit?])[]): Promise<readonly boolean[]> {
  const world = memoryWorld()
  const { cluster } = world
  let isOver = false
  const patchStatus: typeof cluster.patchStatus = (...of) =>
    isOver ? Promise.reject(new Error('The process has ended.')) : cluster.patchStatus(...of)
  const searches: boolean[] = []
  let now = world.now()
  cluster.apply(gitCommit())
  for (const [ending, edit] of attempts) {
    const push: typeof world.push = async ({ since }, _login, { pushWatch }) => {
      searches.push(since !== undefined)
      isOver = ending === 'ended'
      if (ending === 'ended' || ending === 'unsent') throw new Failure('ProviderUnavailable', 'It is down.')
      pushWatch?.sent()
      if (ending === 'lost') throw new Failure('Timeout', 'No answer.')
      pushWatch?.answered(ending === 'landed')
      if (ending === 'refused') throw new Failure('PermissionDenied', 'No right.')
      return LANDED
    }
    edit?.(world)
    now = new Date(now.getTime() + 3_600_000)
    const find = finder(cluster, { reads: 8, waits: 8 })
    const attempt = { ...world, cluster: { ...cluster, patchStatus }, push, now: () => now }
    await handle(REF, find, attempt).catch((error: unknown) => {
      if (!isOver) throw error
    })
    isOver = false
  }
  return searches
}

const spec =
  (change: object, annotations = {}): Edit =>
  ({ cluster }) =>
    void cluster.apply(gitCommit({ ...change }, annotations))
const request = (value: string): Edit => spec({}, { [REQUESTED_AT]: value })

/** As the webhook notes it where only `suspend` changes. */
const REQUESTED_BEFORE = { 'commitlet.dev/request-generation': '1' }

for (const [title, attempts, searches] of [
  [
    'after attempts that have sent nothing, no history is searched',
    [['unsent'], ['unsent'], ['landed']],
    [false, false, false],
  ],
  [
    'from the first push on each attempt searches, whatever those between have sent',
    [['unsent'], ['lost'], ['unsent'], ['unsent'], ['landed']],
    [false, false, true, true, true],
  ],
  ['so it does after a push that was refused', [['refused'], ['landed']], [false, true]],
  ['and after an attempt without a result', [['ended'], ['unsent'], ['landed']], [false, true, true]],
  [
    'one that comes after such that have sent nothing counts as well',
    [['unsent'], ['ended'], ['landed']],
    [false, false, true],
  ],
  [
    'another spec is another request, whose attempts count alone',
    [['lost'], ['unsent', spec({ message: 'Second' })], ['lost'], ['landed']],
    [false, false, false, true],
  ],
  [
    'so is one that is asked for, also where it comes back',
    [['unsent', request('a')], ['lost', request('b')], ['unsent', request('a')], ['landed']],
    [false, false, false, false],
  ],
  [
    'where a request is withdrawn, the commit of the one before it is searched for',
    [['landed'], ['unsent', request('a')], ['unsent', spec({})], ['landed']],
    [false, false, true, true],
  ],
  [
    'a suspension changes nothing',
    [
      ['unsent'],
      ['unsent', spec({ suspend: true }, REQUESTED_BEFORE)],
      ['landed', spec({}, REQUESTED_BEFORE)],
    ],
    [false, false],
  ],
  [
    'nor does it where something was sent',
    [['lost'], ['unsent', spec({ suspend: true }, REQUESTED_BEFORE)], ['landed', spec({}, REQUESTED_BEFORE)]],
    [false, true],
  ],
] as const satisfies readonly (readonly [
  string,
  readonly (readonly [Ending, Edit?])[],
  readonly boolean[],
])[])
  t.test(title, async (t) => t.strictSame(await searchesOf(attempts), searches))

t.test('a success leaves nothing of it in the status', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  const status = () => envelopeOf(world.cluster.get('GitCommit', 'team', 'shop')).status
  world.cluster.remove('ConfigMap', 'team', 'shop')
  const find = finder(world.cluster, { reads: 8, waits: 8 })
  await handle(REF, find, world)
  const { nothingPushedTime, lastAttemptTime } = status() ?? {}
  t.ok(nothingPushedTime)
  t.equal(nothingPushedTime, lastAttemptTime)
  world.cluster.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'shop', namespace: 'team' },
    data: { colour: 'blue' },
  })
  await handle(REF, find, { ...world, now: () => new Date('2026-03-01T11:00:00Z') })
  t.match(status(), { phase: 'Succeeded', nothingPushedTime: undefined })
})
