import { connect } from 'node:net'
import t from 'tap'
import { freePort, waitFor } from './wait.ts'

t.test('the first result ends the wait', async (t) => {
  const answers = [undefined, undefined, 'here']
  t.equal(await waitFor('answer', () => answers.shift(), 5000), 'here')
  t.equal(answers.length, 0)
})

t.test('the deadline is an error that names what was waited for', async (t) => {
  const silent = waitFor('commit on main', () => undefined, 30)
  await t.rejects(silent, { message: 'No commit on main within 30 ms.' })
})

t.test('an error of the condition ends the wait', async (t) => {
  const broken = waitFor('answer', () => Promise.reject(new Error('broken')), 60_000)
  await t.rejects(broken, { message: 'broken' })
})

t.test('nothing listens on a free port', async (t) => {
  const socket = connect(await freePort(), '127.0.0.1')
  const code = await new Promise((resolve) =>
    socket.once('error', (e: NodeJS.ErrnoException) => resolve(e.code)),
  )
  t.equal(code, 'ECONNREFUSED')
})
