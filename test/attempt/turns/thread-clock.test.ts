import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { severalTurns } from '../../../functions/attempt/turns/thread/thread-clock.ts'
import { shareThread } from '../../../functions/attempt/turns/thread/thread-share.ts'

const CONNECTIONS = 24

/** How many turns are waited for where each takes so many milliseconds. */
async function turnsOf(turnMs: number): Promise<number> {
  let turns = 0
  await severalTurns({
    elapsed: () => turns * turnMs,
    nextTurn: async () => void (turns += 1),
  })
  return turns
}

t.test('between works there are several turns, or one where turns are long', async (t) => {
  t.equal(await turnsOf(0.1), 16)
  t.equal(await turnsOf(2), 3)
  t.equal(await turnsOf(20), 1, 'what others send keeps no work waiting for long')
})

t.test('connections that are opened while works are done are accepted between few of them', async (t) => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const { workFor } = shareThread()
  let works = 0
  function work(): void {
    const end = performance.now() + 12
    while (performance.now() < end);
    works += 1
  }
  let accepted = 0
  const all = new Promise<number>((resolve) => {
    server.on('connection', (socket) => {
      t.teardown(() => socket.destroy())
      accepted += 1
      if (accepted === CONNECTIONS) resolve(works)
    })
  })
  t.teardown(() => server.close())
  for (let opened = 0; opened < CONNECTIONS; opened += 1) connect(port, '127.0.0.1')
  const { signal } = new AbortController()
  // Those of a namespace that has taken little do not wait for each other.
  await Promise.all(Array.from({ length: 32 }, (_, index) => workFor(`team-${index % 8}`, work, signal)))
  t.ok((await all) <= 16, `${CONNECTIONS} are accepted within ${await all} works`)
})
