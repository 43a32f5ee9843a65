import { spawn } from 'node:child_process'
import { once } from 'node:events'
import t from 'tap'
import { readGroup } from '../../../functions/git/process/process-group.ts'

t.test('the first line is the number of the group, and all else is what git has written', async (t) => {
  const group = readGroup()
  const pieces = ['12', '3', '\nfatal: ', 'x\n9\n'].map((piece) => group.read(Buffer.from(piece)).toString())
  t.equal(pieces.join(''), '\nfatal: x\n9\n')
})

t.test('the processes of the group are killed, whoever began them', async (t) => {
  const child = spawn('sh', ['-c', 'echo "$$" >&2; sleep 60 & exit'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const group = readGroup()
  const closed = once(child, 'close')
  const [line] = await once(child.stderr, 'data')
  group.read(line)
  await once(child, 'exit')
  group.kill()
  t.ok(await closed, 'whoever had its output open is gone')
})

t.test('a group of which none is left is not told', async (t) => {
  const child = spawn('sh', ['-c', 'echo "$$" >&2'], { detached: true, stdio: ['ignore', 'ignore', 'pipe'] })
  const group = readGroup()
  const ended = once(child, 'close')
  const [line] = await once(child.stderr, 'data')
  group.read(line)
  await ended
  t.doesNotThrow(group.kill)
})

t.test('without a number nothing is killed', async (t) => {
  for (const line of ['', '0\n', '-1\n', 'x\n', '12']) {
    const group = readGroup()
    group.read(Buffer.from(line))
    t.doesNotThrow(group.kill)
  }
})
