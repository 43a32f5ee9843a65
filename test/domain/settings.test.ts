import { once } from 'node:events'
import { createServer } from 'node:net'
import t from 'tap'
import { startComplaint, WrongSetting } from '../../functions/domain/settings.ts'

t.test('a port that is taken is told with its number', async (t) => {
  const first = createServer().listen(0, '127.0.0.1')
  t.teardown(() => first.close())
  await once(first, 'listening')
  const address = first.address()
  const port = typeof address === 'object' ? address?.port : undefined
  const [error] = await once(createServer().listen(port, '127.0.0.1'), 'listening').catch(
    (error: unknown) => [error],
  )
  t.equal(
    startComplaint(error),
    `PORT is ${port}, but another program listens there; name a port that is free.`,
  )
})

t.test('whatever else keeps a program from starting speaks for itself', async (t) => {
  t.equal(startComplaint(new WrongSetting('PORT is "x".')), 'PORT is "x".')
  t.equal(startComplaint('gone'), 'gone')
})
