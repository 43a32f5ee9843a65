import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { fastImport } from '../../../functions/git/session/fast-import.ts'
import type { Tip } from '../../../functions/git/remote.ts'
import { fetchTip } from '../../../functions/git/session/fetch.ts'
import { pushOnce } from '../../../functions/git/session/push.ts'
import type { Session } from '../../../functions/git/session/session.ts'
import { AUTHOR, openStage } from '../stage.ts'
import { drawnTests } from '../../harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

const stage = await openStage()
t.teardown(() => stage.close())
const { server } = stage

let count = 0

async function commitOn(session: Session, tip: Tip): Promise<string> {
  const file = { path: 'a.md', mode: '100644', content: Buffer.from('a') }
  const commit = { files: [file], message: 'A\n', author: AUTHOR, date: new Date() }
  const [head = ''] = await fastImport(session, tip.commit, [commit])
  return head
}

const answers = [
  ['remote: GitLab: 502 Bad Gateway', '[remote rejected] (pre-receive hook declined)', 'ProviderUnavailable'],
  [
    'error: remote unpack failed: unable to create temporary object directory',
    '[remote rejected] (unpacker error)',
    'ProviderUnavailable',
  ],
  ['', '[rejected] (fetch first)', undefined],
  ['', '[remote rejected] (shallow update not allowed)', 'PushRejected'],
  ['', '[rejected] (would clobber existing tag)', 'PushRejected'],
] as const
for (const [stderr, status, reason] of answers) {
  t.test(`${status} ${stderr}`, async (t) => {
    const url = 'https://git.example.com/acme/shop.git'
    await stage.session(url, async (session) => {
      const ended = { exitCode: 1, stdout: `!\ta:refs/heads/main\t${status}\n`, stderr, seconds: 1 }
      const deaf: Session = {
        ...session,
        online: () => Promise.resolve({ ended, meaning: 'absent', undelivered: false }),
      }
      const pushed = await pushOnce(deaf, {
        tip: { branch: 'main', commit: undefined, exists: false },
        head: 'x',
        commits: [],
      })
      if (reason === undefined) t.same(pushed, { kind: 'race' })
      else t.match(pushed, { kind: 'refused', failure: { reason }, each: false })
    })
  })
}

const OTHER_ON_TOP = 'git commit-tree -p main -m Other main^{tree} | xargs git update-ref refs/heads/main'
const UNREPORTED = { stdout: '!\ta:refs/heads/main\t[remote failure] (remote failed to report status)\n' }
const SENT = '12:00:00.000000 http.c:845 => Send header: POST /a.git/git-receive-pack HTTP/1.1\n'
// What the second of two requests hears when the first has moved the branch.
const SENT_TWICE = {
  stdout: '!\ta:refs/heads/main\t[remote rejected] (failed to update ref)\n',
  stderr: `${SENT}${SENT}remote: error: cannot lock ref 'refs/heads/main': is at 11 but expected 22\n`,
}
for (const { name, hooks, said, expected } of [
  { name: 'lands, though the server does not say so', hooks: {}, said: UNREPORTED, expected: 'landed' },
  {
    name: 'has another on top, though the server does not say so',
    hooks: { 'post-receive': OTHER_ON_TOP },
    said: UNREPORTED,
    expected: 'unknown',
  },
  { name: 'is sent twice and lands the first time', hooks: {}, said: SENT_TWICE, expected: 'landed' },
]) {
  drawn(`a push that ${name}`, async (t) => {
    const repository = await server.createRepository(`push/${++count}`, { hooks })
    await stage.session(repository.url, async (session) => {
      const tip = await fetchTip(session, { branch: 'main' })
      if (tip === 'moved') throw new Error('Nobody else is at work here')
      const misheard: Session = {
        ...session,
        async online(args, options) {
          const result = await session.online(args, options)
          if (args[0] !== 'push') return result
          const { stderr, seconds } = result.ended
          const ended = { exitCode: 1, stderr, seconds, ...said }
          return { meaning: 'absent', ended, undelivered: false }
        },
      }
      t.match(await pushOnce(misheard, { tip, head: await commitOn(session, tip), commits: [] }), {
        kind: expected,
      })
    })
  })
}

for (const { name, lands, expected } of [
  { name: 'that has landed has landed', lands: true, expected: { kind: 'landed' } },
  {
    name: 'that has not may still do so',
    lands: false,
    expected: { kind: 'refused', failure: { reason: 'ProviderUnavailable', retry: 'transient' }, late: true },
  },
] as const) {
  t.test(`a push beside which the server prints without end, and ${name}`, async (t) => {
    const repository = await server.createRepository(`push/${++count}`)
    await stage.session(repository.url, async (session) => {
      const tip = await fetchTip(session, { branch: 'main' })
      if (tip === 'moved') throw new Error('Nobody else is at work here')
      const loud: Session = {
        ...session,
        async online(args, options) {
          if (args[0] !== 'push') return session.online(args, options)
          if (lands) await session.online(args, options)
          throw new Failure('NotSupported', 'It sends more than is read.')
        },
      }
      t.match(await pushOnce(loud, { tip, head: await commitOn(session, tip), commits: [] }), expected)
    })
  })
}

t.test('a push counts as sent once its git may begin, and not while it waits for that', async (t) => {
  const repository = await server.createRepository(`push/${++count}`)
  const seen: string[] = []
  const begins = (): void => void seen.push('begins')
  await stage.session(
    repository.url,
    async (session) => {
      const tip = await fetchTip(session, { branch: 'main' })
      if (tip === 'moved') throw new Error('Nobody else is at work here')
      const head = await commitOn(session, tip)
      seen.length = 0
      await pushOnce(session, { tip, head, commits: [] }, () => {
        seen.push('is sent')
        return Infinity
      })
    },
    { begins },
  )
  t.same(seen, ['begins', 'is sent'])
})
