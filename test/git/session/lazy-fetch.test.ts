import t from 'tap'
import { fetchTip } from '../../../functions/git/session/fetch.ts'
import { readBlobs } from '../../../functions/git/session/read-blobs.ts'
import { openStage, outcomeOf } from '../stage.ts'
import { withoutBase } from './delta-bomb.ts'

const stage = await openStage()
t.teardown(() => stage.close())
const { server } = stage

/** Commands of protocol version 2 for this repository, of which the last ones are answered so a few times at most. */
function answerWithoutBase(repository: string): () => number {
  const headers = { 'content-type': 'application/x-git-upload-pack-result' }
  const fault = { kind: 'status', status: 200, headers, body: withoutBase() } as const
  server.faults.add(fault, { repository, command: 'fetch', times: 4 })
  const isFetch = (one: (typeof server.requests)[number]): boolean =>
    one.repository === repository && one.command === 'fetch'
  const before = server.requests.filter(isFetch).length
  return () => server.requests.filter(isFetch).length - before
}

// Git would fetch it from the same server, which answers in the same way: a process in a process, without end.
t.test('a base that a pack lacks is not fetched', async (t) => {
  const repository = await server.createRepository('lazy/tip')
  const fetches = answerWithoutBase(repository.name)
  await stage.session(repository.url, async (session) => {
    t.match(await outcomeOf(fetchTip(session, { branch: 'main' })), { reason: 'ProviderUnavailable' })
  })
  t.equal(fetches(), 1)
})

t.test('nor where files are read', async (t) => {
  const repository = await server.createRepository('lazy/files', { files: { 'a.md': 'a' } })
  const file = await repository.git('rev-parse', 'main:a.md')
  await stage.session(repository.url, async (session) => {
    await fetchTip(session, { branch: 'main' })
    const fetches = answerWithoutBase(repository.name)
    t.match(await outcomeOf(readBlobs(session, [file], 100)), { reason: 'ProviderUnavailable' })
    t.equal(fetches(), 1)
  })
})
