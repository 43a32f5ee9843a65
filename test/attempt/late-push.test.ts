import t from 'tap'
import { handle } from '../../functions/attempt/attempt.ts'
import { finder } from '../../functions/attempt/find.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import type { Landed } from '../../functions/domain/commit/change.ts'
import { gitCommit, memoryWorld } from '../harness/memory-world.ts'

const REF = { kind: 'GitCommit', namespace: 'team', name: 'shop' } as const
const LANDED: Landed = { outcome: 'pushed', sha: 'e'.repeat(40), branch: 'main' }

/** How a push ends: its answer is lost, it lands, or it is never sent. */
type Ending = 'lost' | 'landed' | 'unsent'

/**
 * Applies these specs one after the other, a minute apart. For each: whether its push had to move the branch though it holds the
 * content already, because an earlier one may still be carried out.
 */
async function pushesOf(specs: readonly (readonly [object, Ending])[]): Promise<readonly unknown[]> {
  const { cluster, ...world } = memoryWorld()
  const moved: unknown[] = []
  let now = world.now()
  for (const [spec, ending] of specs) {
    const push: typeof world.push = async (change, _login, { pushWatch }) => {
      moved.push(change.latePush)
      if (ending === 'unsent') throw new Failure('ProviderUnavailable', 'The host is down.')
      pushWatch?.sent()
      if (ending === 'lost') throw new Failure('Timeout', 'No answer.')
      pushWatch?.answered(true)
      return LANDED
    }
    cluster.apply(gitCommit({ ...spec }))
    now = new Date(now.getTime() + 60_000)
    await handle(REF, finder(cluster, { reads: 8, waits: 8 }), { ...world, cluster, push, now: () => now })
  }
  const { latePush, latePushTo } = envelopeOf(cluster.get('GitCommit', 'team', 'shop')).status ?? {}
  return [...moved, latePush, latePushTo]
}

const MAIN = { branch: 'main', message: 'One' }
const AGAIN = { branch: 'main', message: 'Two' }
const OTHER = { branch: 'other', message: 'Three' }
const ELSEWHERE = { ...MAIN, repository: 'https://github.com/acme/elsewhere.git' }

t.test('a push at another branch does not end what may still be carried out at this one', async (t) => {
  t.strictSame(
    await pushesOf([
      [MAIN, 'lost'],
      [OTHER, 'landed'],
      [AGAIN, 'landed'],
    ]),
    [false, true, true, undefined, undefined],
  )
})

t.test('nor does one at another repository, however many follow and fail', async (t) => {
  const moved = await pushesOf([
    [MAIN, 'lost'],
    [ELSEWHERE, 'landed'],
    [OTHER, 'unsent'],
    [{ ...OTHER, message: 'Four' }, 'landed'],
    [AGAIN, 'unsent'],
    [MAIN, 'landed'],
  ])
  t.strictSame(moved, [false, true, false, false, true, true, undefined, undefined])
})

t.test('each place has its own', async (t) => {
  const moved = await pushesOf([
    [MAIN, 'lost'],
    [OTHER, 'lost'],
    [ELSEWHERE, 'landed'],
    [OTHER, 'landed'],
    [{ ...OTHER, message: 'Four' }, 'landed'],
    [AGAIN, 'landed'],
    [{ ...ELSEWHERE, message: 'Five' }, 'landed'],
  ])
  t.strictSame(moved, [false, true, true, true, false, true, false, undefined, undefined])
})

t.test('eight places are remembered', async (t) => {
  const places = Array.from({ length: 10 }, (_, index) => ({ branch: `b${index}` }))
  const moved = await pushesOf([
    ...places.map((spec) => [spec, 'lost'] as const),
    [MAIN, 'landed'],
    ...places.map((spec) => [spec, 'landed'] as const),
  ])
  const kept = places.map((_, index) => index > 1)
  t.strictSame(moved.slice(11), [...kept, undefined, undefined])
})
