import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import t from 'tap'
import { readAuthorities } from '../../functions/net/authorities.ts'

t.test("the operator's authorities come to those of the system, each once", async (t) => {
  const folder = t.testdir({ 'own.pem': 'one and two' })
  const known = await readAuthorities(undefined)
  t.ok(known.length > 0, 'there are some')
  t.equal(new Set(known).size, known.length)
  const system = getCACertificates('system')
  t.same(new Set(known), new Set(system.length > 0 ? system : getCACertificates('bundled')))
  t.strictSame(await readAuthorities(join(folder, 'own.pem')), [...known, 'one and two'])
})

t.test('a CA_FILE that is no longer there is named', async (t) => {
  await t.rejects(readAuthorities(join(t.testdir({}), 'none.pem')), {
    reason: 'Internal',
    message: 'The file that CA_FILE names cannot be read; the operator has to mend it.',
  })
})
