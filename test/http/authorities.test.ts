import { join } from 'node:path'
import t from 'tap'
import { readTrust } from '../../functions/http/authorities.ts'
import { CA_FILE, call, serve } from './stage.ts'

t.test('a CA_FILE that is no longer there is named', async (t) => {
  await t.rejects(readTrust(join(t.testdir({}), 'none.pem')), {
    reason: 'Internal',
    message: 'The file that CA_FILE names cannot be read; the operator has to mend it.',
  })
})

t.test('the authorities of CA_FILE come to those of the system', async (t) => {
  const { port } = await serve(t, (_request, response) => response.end('ok'))
  const url = `https://git.example.com:${port}/`
  t.match(await call(url, { settings: { caFile: undefined } }), { reason: 'TLSUntrusted' })
  t.match(await call(url, { settings: { caFile: CA_FILE } }), { status: 200 })
})
