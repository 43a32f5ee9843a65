import t from 'tap'
import type { Channel, Delivery } from '../../../functions/git/direct/channels/channel.ts'
import { push } from '../../../functions/git/direct/push.ts'
import { readTree } from '../../../functions/git/direct/read-tree.ts'
import type { DirectSession } from '../../../functions/git/direct/session.ts'
import { writeCommits } from '../../../functions/git/direct/write-commits.ts'
import { rememberWays } from '../../../functions/git/direct/tree-ways.ts'
import { outcomeOf } from '../stage.ts'
import { NO_TIPS } from './no-tips.ts'

const TIP = { branch: 'main', commit: 'a'.repeat(40), exists: true } as const
const HEAD = 'b'.repeat(40)
const COMMIT = { message: 'x\n', author: { name: 'Ada', email: 'ada@example.com' }, date: new Date(0) }
const URL = 'https://git.example.com/acme/shop.git'

/** A session that has forgotten every object, at a server with these answers. */
function sessionWith(answer: string, delivery: Delivery, signal = new AbortController().signal) {
  const forgotten: string[] = []
  const channel: Channel = {
    ask: async (_question, read) => read(Buffer.from(answer)),
    push: async () => delivery,
    tellsUnborn: () => Promise.resolve(false),
    askToPush: async () => undefined,
    close: async () => undefined,
  }
  const nothing = (): undefined => undefined
  const session: DirectSession = {
    channel,
    context: { url: URL, secrets: [], proxied: false, deadlineSeconds: 1, fetchLimitMiB: 1 },
    signal,
    share: { namespace: 'shop', take: () => nothing, allowLong: () => true, inTurn: (work) => work() },
    objects: { get: nothing, keep: async () => {}, remember: nothing, close: nothing },
    tips: { ...NO_TIPS, forget: (branch) => void forgotten.push(branch) },
    way: rememberWays()('r', 'me', 'shop'),
  }
  return { session, forgotten }
}

t.test('a report that cannot be read says nothing: the branch does', async (t) => {
  const { session } = sessionWith('0000', {
    kind: 'answered',
    answer: Buffer.from('not a packet'),
    words: '',
  })
  const pushed = await push(session, { tip: TIP, head: HEAD }, { commits: [], pack: [], latest: [] })
  t.match(pushed, { kind: 'unknown' })
})

t.test('nothing is written after the signal has fired', async (t) => {
  const { session } = sessionWith('0000', { kind: 'stale' }, AbortSignal.abort())
  const files = [{ path: 'large', mode: '100644', content: Buffer.alloc(4 * 1024 * 1024) }]
  t.match(await outcomeOf(writeCommits(session, undefined, [{ ...COMMIT, files }])), { reason: 'Timeout' })
})

t.test('nothing is written on a commit that is forgotten: all its files would be gone', async (t) => {
  const { session } = sessionWith('0000', { kind: 'stale' })
  const files = [{ path: 'a.md', mode: '100644', content: Buffer.from('a') }]
  await t.rejects(writeCommits(session, TIP.commit, [{ ...COMMIT, files }]), {
    message: 'the commit to build on was not read',
  })
})

t.test('a commit that the server has no longer is forgotten as a tip, too', async (t) => {
  const { session, forgotten } = sessionWith('0020ERR upload-pack: not our ref', { kind: 'stale' })
  t.match(await outcomeOf(readTree(session, TIP, { paths: ['a.md'] })), {
    name: 'Failure',
    reason: 'Conflict',
  })
  t.same(forgotten, ['main'])
})
