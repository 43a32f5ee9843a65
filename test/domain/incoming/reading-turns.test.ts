import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { boundConnections } from '../../../functions/domain/incoming/connections.ts'
import { openReadingTurns } from '../../../functions/domain/incoming/reading-turns.ts'
import { TIMING } from '../../../functions/net/timing.ts'
import { waitFor } from '../../harness/wait.ts'

/** Turns whose works take so many milliseconds each, by a clock of their own; `next` is the next turn of the event loop. */
function start(milliseconds: number) {
  const begun: (() => void)[] = []
  const done: string[] = []
  let now = 0
  const inTurn = openReadingTurns({ elapsed: () => now, nextTurn: (work) => void begun.push(work) })
  const work = (name: string) => (): void => {
    now += milliseconds
    done.push(name)
  }
  return {
    inTurn,
    done,
    work,
    ask: (address: string, name: string) => inTurn(address, work(name)),
    next: () => begun.splice(0).forEach((turn) => turn()),
  }
}

t.test('work is done at once for 10 ms of a turn, and what comes then in the next ones', async (t) => {
  const { ask, done, next } = start(4)
  t.strictSame(
    ['1', '2', '3', '4', '5', '6', '7'].map((name) => ask('a', name)),
    [true, true, true, false, false, false, false],
  )
  t.equal(done.join(''), '123')
  next()
  t.equal(done.join(''), '123456')
  t.notOk(ask('b', '8'), 'that turn has no time left')
  next()
  t.equal(done.join(''), '12345678')
  next()
  t.ok(ask('a', '9'))
})

t.test('an address that has sent little waits for one work of each other one', async (t) => {
  const { ask, done, next } = start(10)
  for (let index = 0; index < 100; index += 1) for (const address of ['a', 'b']) ask(address, address)
  ask('c', 'c')
  t.equal(done.join(''), 'a')
  for (let turns = 0; turns < 3; turns += 1) next()
  t.equal(done.join(''), 'abac')
})

t.test('work within another is a part of it', async (t) => {
  const { inTurn, ask, work, done, next } = start(6)
  inTurn('a', () => {
    work('1')()
    t.ok(inTurn('b', work('2')))
  })
  t.notOk(ask('c', '3'))
  t.equal(done.join(''), '12')
  next()
  t.ok(ask('c', '4'), 'each took its time once')
})

t.test('of many connections that have sent much, a few are read in a turn of the event loop', async (t) => {
  let now = 0
  const ofTurn: number[] = [0]
  const server = createServer((request, response) => {
    if (request.url === '/probe') return void response.end('alive')
    request.on('data', () => (ofTurn[ofTurn.length - 1]! += 1)).on('end', () => response.end())
  })
  // Each slice takes a millisecond.
  boundConnections(server, 1_000, { ...TIMING, elapsed: () => (now += 1) })
  let accepted = 0
  server.on('connection', () => (accepted += 1))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const clients: Socket[] = []
  t.teardown(() => {
    for (const client of clients) client.destroy()
    server.close()
  })
  const open = async (localAddress: string): Promise<Socket> => {
    const client = connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined)
    clients.push(client)
    await once(client, 'connect')
    return client
  }
  const senders = await Promise.all(Array.from({ length: 100 }, () => open('127.0.0.1')))
  const other = await open('127.0.0.2')
  await waitFor('all connections', () => accepted === senders.length + 1 || undefined, 20_000)
  const chunks = 170 * 3
  const head = 'POST / HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n'
  for (const sender of senders) sender.write(`${head}${'1\r\nx\r\n'.repeat(chunks)}0\r\n\r\n`)
  const sum = (): number => ofTurn.reduce((all, pieces) => all + pieces, 0)
  let sumAtAnswer = 0
  other.write('GET /probe HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n')
  void text(other).then(() => (sumAtAnswer = sum()))
  const count = (): void => {
    ofTurn.push(0)
    if (sum() < chunks * senders.length) setImmediate(count)
  }
  count()
  await waitFor('all of it', () => sum() === chunks * senders.length || undefined, 20_000)
  // 20 slices at most, of the end of a turn and the beginning of the next one, of some 340 chunks.
  t.ok(Math.max(...ofTurn) < 21 * 400, `${Math.max(...ofTurn)} in a turn`)
  t.ok(sumAtAnswer > 0 && sumAtAnswer < sum() / 2, `answered after ${sumAtAnswer} of ${sum()}`)
})
