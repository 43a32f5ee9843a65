import t from 'tap'
import { openMemory, openObjects } from '../../../functions/git/direct/memory.ts'
import { isOfBranch } from '../../../functions/git/direct/of-branch.ts'
import { listRefs, understood, type DirectSession } from '../../../functions/git/direct/session.ts'
import { treeOfCommit } from '../../../functions/git/objects/commit-object.ts'
import { push } from '../../../functions/git/direct/push.ts'
import { tooLong, type Channel } from '../../../functions/git/direct/channels/channel.ts'
import { rememberWays } from '../../../functions/git/direct/tree-ways.ts'
import { FLUSH, packet } from '../../../functions/git/protocol/pkt-line.ts'
import { countTurns } from './turns.ts'
import { NO_TIPS } from './no-tips.ts'

const ID = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
const SESSIONS = 8

/** A session of this namespace with a server whose answers are all there at once. */
function sessionWith(answer: Buffer, namespace = 'evil'): DirectSession {
  const memory = openMemory()
  const share = memory.shareOf(namespace)
  const channel: Channel = {
    ask: async (_question, read) => read(answer),
    tellsUnborn: () => Promise.resolve(false),
    push: () => Promise.resolve({ kind: 'answered', answer, words: '' }),
    askToPush: () => Promise.reject(new Error('asked')),
    close: async () => {},
  }
  return {
    channel,
    context: { url: 'https://h/r', secrets: [], proxied: false, deadlineSeconds: 1, fetchLimitMiB: 1 },
    signal: new AbortController().signal,
    share,
    objects: openObjects(memory, { owner: 'me', namespace, take: share.take }),
    tips: NO_TIPS,
    way: rememberWays()('r', 'me', 'shop'),
  }
}

function refs(count: number): Buffer {
  const lines = Array.from({ length: count }, (_, i) => packet(`${ID} refs/heads/b${i}\n`))
  return Buffer.concat([...lines, FLUSH])
}

function report(words: string): Buffer {
  const told = Buffer.concat([packet('unpack ok\n'), packet('ok refs/heads/main\n'), FLUSH])
  const bands = [Buffer.from(`\x02${words}`), Buffer.concat([Buffer.of(1), told])]
  return Buffer.concat([...bands.map(packet), FLUSH])
}

t.test(
  'long lists of refs that end at the same moment are read in different turns of the event loop',
  async (t) => {
    const sessions = Array.from({ length: SESSIONS }, () => sessionWith(refs(1_000)))
    const { result, turns } = await countTurns(() =>
      Promise.all(sessions.map((one) => listRefs(one, ['HEAD']))),
    )
    t.ok(result.every(({ any }) => any))
    t.ok(turns >= SESSIONS - 1, `${turns} turns`)
  },
)

t.test('a short one waits for no turn', async (t) => {
  const sessions = Array.from({ length: SESSIONS }, () => sessionWith(refs(1)))
  const { turns } = await countTurns(() => Promise.all(sessions.map((one) => listRefs(one, ['HEAD']))))
  t.ok(turns < 3, `${turns} turns`)
})

t.test('long answers to pushes are read in different turns of the event loop', async (t) => {
  const pushed = { tip: { branch: 'main', commit: ID, exists: true }, head: ID.replace('e', 'f') }
  const sent = { pack: [], latest: [], commits: [] }
  const sessions = Array.from({ length: SESSIONS }, () => sessionWith(report('x'.repeat(50_000))))
  const { result, turns } = await countTurns(() =>
    Promise.all(sessions.map((one) => push(one, pushed, sent))),
  )
  t.ok(result.every(({ kind }) => kind === 'landed'))
  t.ok(turns >= SESSIONS - 1, `${turns} turns`)
})

t.test('too many refs, too long an answer and a broken commit say nothing of other branches', async (t) => {
  const list = listRefs(sessionWith(refs(70_000)), ['HEAD'])
  const ended: unknown = await list.catch((error: unknown) => error)
  t.ok(isOfBranch(ended), String(ended))
  t.ok(isOfBranch(tooLong({ most: 1 })))
  const thrown = t.throws(() => understood(Buffer.from('no tree'), treeOfCommit), {
    message: 'a commit cannot be read here',
  })
  t.ok(isOfBranch(thrown))
  t.notOk(isOfBranch(new Error('it refuses a fetch')))
})
