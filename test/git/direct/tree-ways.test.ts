import t, { type Test } from 'tap'
import { openDirectEngine } from '../../../functions/git/direct/direct-engine.ts'
import type { Remote, Tip } from '../../../functions/git/remote.ts'
import { openSSHSessions } from '../../../functions/git/ssh/sessions.ts'
import { followTrust } from '../../../functions/net/trust.ts'
import type { Fault } from '../../harness/git-faults.ts'
import { addressOf, AUTHOR, loginOf, openStage, patience, PASSWORD, REACHED, USER } from '../stage.ts'

const OTHER = { password: 'another-login' }
const MANY = 9_000
/** A directory of its own for each, as their names differ. */
const DIRECTORIES = Object.fromEntries(Array.from({ length: MANY }, (_, i) => [`d/${i}/f${i}`, 'x']))

const stage = await openStage({ users: [USER, OTHER] })
t.teardown(() => stage.close())
const { server } = stage
const repository = await server.createRepository('ways/many', { files: DIRECTORIES })

/** A new engine, with sessions at the repository. */
function openEngine(t: Test) {
  const ssh = openSSHSessions()
  const engine = openDirectEngine({
    trust: followTrust(server.caFile),
    ssh,
    fetchLimitMiB: 64,
    deadlineSeconds: 30,
  })
  t.teardown(async () => {
    await engine.close()
    await ssh.close()
  })
  return async function within<T>(work: (remote: Remote) => Promise<T>, login = PASSWORD): Promise<T> {
    const target = {
      address: addressOf(repository.url),
      route: REACHED,
      login: loginOf(login),
      namespace: 'shop',
    }
    const remote = await engine.open({ ...target, signal: patience() })
    return work(remote).finally(() => remote.close())
  }
}

/** The fetches since it was last asked. */
function countFetches() {
  let seen = server.requests.length
  return () => {
    const requests = server.requests.slice(seen)
    seen += requests.length
    return requests.filter(({ command }) => command === 'fetch')
  }
}

async function tipOf(remote: Remote, branch: string, since?: Date): Promise<Tip> {
  const tip = await remote.readTip({ branch, ...(since === undefined ? {} : { since }) })
  if (tip === 'moved') throw new Error('Nobody else is at work here')
  return tip
}

/** Commits a file, with this id. */
async function commitFile(remote: Remote, branch: string, path: string, id = '1.1'): Promise<void> {
  const tip = await tipOf(remote, branch)
  await remote.readTree(tip, [path])
  const files = [{ path, mode: '100644', content: Buffer.from(`${path}\n`) }]
  const message = `Write ${path}\n\nCommitlet-Id: ${id}\n`
  const [head = ''] = await remote.writeCommits(tip, [{ files, message, author: AUTHOR, date: new Date() }])
  const pushed = await remote.push(tip, head)
  if (pushed.kind !== 'landed') throw new Error(`It has not landed: ${JSON.stringify(pushed)}`)
}

t.test('of a branch with many directories, those come that a change needs', async (t) => {
  const within = openEngine(t)
  const fetches = countFetches()
  await within((remote) => commitFile(remote, 'main', 'd/7/new.md'))
  t.equal(fetches().length, 5, 'all of them, which are too many, the commit, and a level each')
  await within((remote) => commitFile(remote, 'main', 'd/7/newer.md'))
  t.equal(fetches().length, 0, 'what was written is remembered')
  await within((remote) => commitFile(remote, 'one', 'd/8/new.md'))
  t.equal(fetches().length, 1, 'and so is what was read')
  await within((remote) => commitFile(remote, 'main', 'not/there/yet.md'), OTHER.password)
  const others = fetches()
  t.equal(others.length, 3, 'another login has to find out by itself')
  await within((remote) => commitFile(remote, 'two', 'd/9/new.md'), OTHER.password)
  const sent = fetches().reduce((sum, { sent }) => sum + sent, 0)
  t.ok(sent > 0 && sent < 512 * 1024, `${sent} bytes`)
  t.equal(await repository.git('show', 'main:d/7/newer.md'), 'd/7/newer.md')
  t.equal(await repository.git('show', 'main:not/there/yet.md'), 'not/there/yet.md')
  t.equal(await repository.git('show', 'main:d/7/f7'), 'x')
  t.equal(await repository.git('show', 'two:d/9/new.md'), 'd/9/new.md')
  await repository.git('fsck', '--strict')
})

t.test('a commit is found among many directories', async (t) => {
  const within = openEngine(t)
  await within((remote) => commitFile(remote, 'main', 'd/7/mine.md', 'mine.1'))
  const commit = await repository.git('rev-parse', 'main')
  const sought = { id: 'mine.1', paths: ['d/7/mine.md'] }
  for (const login of [PASSWORD, OTHER.password])
    t.same(
      await within(async (remote) => {
        const tip = await tipOf(remote, 'main', new Date(Date.now() - 3_600_000))
        return remote.findLanded(tip, [sought, { ...sought, paths: ['d/8/mine.md'] }])
      }, login),
      [commit, undefined],
    )
})

t.test('a server that sends no directory by its name sends all of them', async (t) => {
  const within = openEngine(t)
  const fetches = countFetches()
  const refused: Fault = {
    kind: 'status',
    status: 200,
    headers: { 'content-type': 'application/x-git-upload-pack-result' },
    body: '0020ERR upload-pack: not our ref',
  }
  const target = { repository: repository.name, command: 'fetch', skip: 2, times: 1 } as const
  t.teardown(server.faults.add(refused, target))
  await within((remote) => commitFile(remote, 'main', 'd/7/all.md'))
  t.equal(fetches().length, 4, 'all, the commit, the root, which is refused, and all again')
  await within((remote) => commitFile(remote, 'other', 'd/8/all.md'))
  t.equal(await repository.git('show', 'other:d/8/all.md'), 'd/8/all.md')
  t.equal(await repository.git('show', 'main:d/7/all.md'), 'd/7/all.md')
})
