import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { openTerminal, takesColour } from '../../../cli/terminal/terminal.ts'

/** A process with these streams, which are terminals or not. */
function processWith(isTTY: boolean, env: Readonly<Record<string, string>> = {}) {
  const stream = () => Object.assign(new PassThrough(), { isTTY, columns: 40 })
  const streams = { stdout: stream(), stderr: stream(), stdin: stream() }
  const stops: (() => void)[] = []
  const process = { ...streams, env, once: (_signal: string, stop: () => void) => stops.push(stop) }
  return { ...streams, stops, terminal: openTerminal(process as unknown as NodeJS.Process) }
}

t.test('on a terminal, progress is one line that is taken away', async (t) => {
  const { terminal, stdout, stderr } = processWith(true)
  t.match(terminal, { colour: true, columns: 40 })
  terminal.progress('x'.repeat(50))
  terminal.print('done')
  terminal.progress('mo\u001bre')
  terminal.progress('')
  terminal.warn('wrong')
  terminal.write('raw')
  stdout.end()
  stderr.end()
  t.equal(await text(stdout), 'done\nraw')
  t.equal(await text(stderr), `${'x'.repeat(39)}\r\u001b[Kmo?re\r\u001b[Kwrong\n`)
})

t.test('elsewhere there is no progress, no colour and no width', async (t) => {
  const { terminal, stderr, stdin } = processWith(false)
  t.match(terminal, { colour: false, columns: undefined })
  terminal.progress('working')
  stderr.end()
  stdin.end('input')
  t.equal(await text(stderr), '')
  t.equal(await terminal.readInput(5), 'input')
})

t.test('of standard input no more is read than is wanted', async (t) => {
  const { terminal, stdin } = processWith(false)
  stdin.write('abc')
  stdin.write('def')
  t.equal(await terminal.readInput(5), undefined)
})

t.test('Ctrl-C stops what runs', async (t) => {
  const { terminal, stops } = processWith(true)
  for (const stop of stops) stop()
  t.equal(terminal.signal.aborted, true)
})

t.test('colours as the environment wants them', async (t) => {
  t.equal(takesColour(true, { NO_COLOR: '1', FORCE_COLOR: '1' }), false)
  t.equal(takesColour(true, { NO_COLOR: '' }), true)
  t.equal(takesColour(false, { FORCE_COLOR: '1' }), true)
  t.equal(takesColour(false, { FORCE_COLOR: '0' }), false)
  t.equal(takesColour(true, { TERM: 'dumb' }), false)
})
