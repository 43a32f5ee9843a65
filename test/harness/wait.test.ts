import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import t from 'tap'
import { freePort, takePort, waitFor } from './wait.ts'

const LINUX_ONLY = process.platform !== 'linux' && 'Only Linux has abstract sockets.'

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

t.test(
  'a port that a process has drawn is drawn by no other one until it ends',
  { skip: LINUX_ONLY },
  async (t) => {
    const code = `import { freePort } from './wait.ts'
    console.log(await freePort())
    process.stdin.resume()`
    const other = spawn(process.execPath, ['--input-type=module', '--eval', code], {
      cwd: import.meta.dirname,
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'] },
    })
    t.teardown(() => other.kill())
    const [line] = await once(other.stdout, 'data')
    const port = Number(line)
    t.ok(port > 0)
    t.equal(await takePort(port), false)
    other.stdin.end()
    await once(other, 'exit')
    t.equal(await takePort(port), true)
    t.equal(await takePort(port), false, 'nor again by the same')
  },
)
