import Fastify from 'fastify'
import t from 'tap'
import { NO_SCHEMAS } from '../../functions/domain/no-schemas.ts'

t.test('an app without compilers of schemas answers, and refuses to start with a schema', async (t) => {
  const app = Fastify({ schemaController: NO_SCHEMAS }).get('/', () => 'text')
  t.equal((await app.inject('/')).body, 'text')
  const described = Fastify({ schemaController: NO_SCHEMAS }).get(
    '/',
    { schema: { querystring: { type: 'object' } } },
    () => 'text',
  )
  await t.rejects(async () => described.ready(), { message: /A route has a schema/ })
})
