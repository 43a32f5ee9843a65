import t from 'tap'
import { CA_FILE, call, serve } from './stage.ts'

t.test('the authorities of CA_FILE come to those of the system', async (t) => {
  const { port } = await serve(t, (_request, response) => response.end('ok'))
  const url = `https://git.example.com:${port}/`
  t.match(await call(url, { settings: { caFile: undefined } }), { reason: 'TLSUntrusted' })
  t.match(await call(url, { settings: { caFile: CA_FILE } }), { status: 200 })
})
