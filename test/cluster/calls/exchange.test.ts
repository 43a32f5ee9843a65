import { getEventListeners } from 'node:events'
import t from 'tap'
import { send, type ApiCall } from '../../../functions/cluster/calls/exchange.ts'
import { standIn } from '../stage.ts'

t.test('a call leaves no listener on the signal that may end it, however it has ended', async (t) => {
  const url = await standIn(t, ({ url }, response) => {
    if (url === '/lost') response.socket?.destroy()
    else response.end('{}')
  })
  const { signal } = new AbortController()
  const call = (path: string, headers = {}): Promise<unknown> => {
    const request: ApiCall = { method: 'GET', path, signal }
    return send(new URL(path, url), { headers }, request).catch((error: unknown) => error)
  }
  t.match(await call('/'), { status: 200, text: '{}' })
  t.match(await call('/lost'), { reason: 'NetworkError' })
  t.match(await call('/', { authorization: 'a\nb' }), { code: 'ERR_INVALID_CHAR' })
  t.same(getEventListeners(signal, 'abort'), [])
})
