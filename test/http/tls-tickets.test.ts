import { createSecureContext } from 'node:tls'
import t from 'tap'
import { rememberTickets } from '../../functions/http/tls-tickets.ts'

t.test('a session is remembered for its server, its authorities and its check alone', async (t) => {
  const tickets = rememberTickets()
  const key = { host: 'git.example.com', port: 443, insecure: false, trust: createSecureContext() }
  const session = Buffer.from('session')
  t.equal(tickets.get(key), undefined)
  tickets.set(key, session)
  t.equal(tickets.get({ ...key }), session)
  for (const other of [
    { host: 'example.com' },
    { port: 8443 },
    { insecure: true },
    { trust: createSecureContext() },
  ])
    t.equal(tickets.get({ ...key, ...other }), undefined)
  for (let port = 1; port <= 256; port += 1) tickets.set({ ...key, port }, session)
  t.equal(tickets.get(key), undefined, 'the oldest is forgotten')
})
