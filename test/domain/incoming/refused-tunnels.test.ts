import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import t from 'tap'
import { refuseTunnels } from '../../../functions/domain/incoming/refused-tunnels.ts'
import { waitFor } from '../../harness/wait.ts'

const GET = 'GET / HTTP/1.1\r\nhost: x\r\n\r\n'
const TUNNEL = 'CONNECT x:1 HTTP/1.1\r\nhost: x\r\n\r\n'

t.test('all responses of a connection close on which a tunnel is asked for', async (t) => {
  const responses: ServerResponse[] = []
  const server = createServer((_request, response) => void responses.push(response))
  refuseTunnels(server)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined)
  client.write(GET + GET + TUNNEL)
  client.resume()
  const areClosed = (): true | undefined =>
    (responses.length === 2 && responses.every(({ closed }) => closed)) || undefined
  t.ok(await waitFor('the end of both', areClosed, 10_000))
})
