import t from 'tap'
import type { Change, Landed } from '../../../functions/domain/commit/change.ts'
import type { Failure } from '../../../functions/domain/failure.ts'
import { findOne } from '../../../functions/git/writer/doubts.ts'
import type { Session } from '../../../functions/git/session/session.ts'
import { land } from '../../../functions/git/writer/land.ts'
import type { Target } from '../../harness/git-faults.ts'
import type { GitRepository } from '../../harness/git-repository.ts'
import { changeOf, openStage, outcomeOf, until } from '../stage.ts'

const stage = await openStage()
t.teardown(() => stage.close())
const { server } = stage

const HOUR_MS = 3_600_000

async function landOne(change: Change): Promise<Landed | Failure> {
  const told = Promise.withResolvers<Landed | Failure>()
  const entry = { change, date: new Date(), signal: new AbortController().signal, settle: told.resolve }
  await stage.session(change.repository.text, (session) => land(session, [entry]))
  return told.promise
}

/** Holds the next such request of the repository (after `skip` of them), does the work, and lets it go on. */
async function whileHeld(name: string, target: Target, work: () => Promise<unknown>): Promise<void> {
  const { exchange, command, skip = 0 } = target
  const seen = () =>
    server.requests.filter((r) => r.repository === name && r.exchange === exchange && r.command === command)
      .length
  const before = seen()
  const held = Promise.withResolvers<undefined>()
  server.faults.add(
    { kind: 'hold', when: 'before', until: held.promise },
    { repository: name, times: 1, ...target },
  )
  await until('the request that is held', () => Promise.resolve(seen() > before + skip))
  await work()
  held.resolve(undefined)
}

/** The commit of an attempt that was thought lost: of the same change, when the object held something else. */
function landLate(repository: GitRepository, { path, message }: Change): Promise<string> {
  return repository.commit('main', { [path]: 'as it was then' }, message)
}

t.test('an earlier attempt that lands between fetch and push is found, and not made again', async (t) => {
  const repository = await server.createRepository('search/late')
  const change = { ...changeOf(repository.url, 'a.md'), since: new Date(Date.now() - HOUR_MS) }
  const work = landOne(change)
  await whileHeld(repository.name, { exchange: 'receive-pack-refs' }, () => landLate(repository, change))
  t.match(await work, { outcome: 'found', sha: await repository.git('rev-parse', 'main') })
  t.same(await repository.log('main'), ['Write a.md', 'Begin'])
})

t.test('a push of unknown outcome is looked for until the change has ended', async (t) => {
  const repository = await server.createRepository('search/unknown')
  const change = changeOf(repository.url, 'a.md')
  const mend = server.faults.add({ kind: 'drop' }, { repository: repository.name, exchange: 'receive-pack' })
  const work = landOne(change)
  await whileHeld(repository.name, { exchange: 'upload-pack', command: 'ls-refs', skip: 1 }, async () => {
    await repository.commit('main', { 'b.md': 'by another' }, 'Other')
    mend()
  })
  await whileHeld(repository.name, { exchange: 'receive-pack-refs' }, () => landLate(repository, change))
  t.match(await work, { outcome: 'found', sha: await repository.git('rev-parse', 'main') })
  t.same(await repository.log('main'), ['Write a.md', 'Other', 'Begin'])
})

t.test('a branch that moves while it is read is tried again', async (t) => {
  const change = changeOf(`${server.url}/search/none.git`, 'a.md')
  await stage.session(change.repository.text, async (session) => {
    const ended = { exitCode: 128, stdout: '', stderr: '', seconds: 1 }
    const moving: Session = {
      ...session,
      online: () => Promise.resolve({ ended, meaning: 'race', undelivered: true }),
    }
    t.match(await outcomeOf(findOne(moving, change)), { reason: 'Conflict', message: /moved/ })
  })
})
