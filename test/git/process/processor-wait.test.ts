import { existsSync } from 'node:fs'
import t from 'tap'
import { readThreadTime, watchProcessorWait } from '../../../functions/git/process/processor-wait.ts'

const isTold = existsSync('/proc/self/schedstat')

t.test(
  'the main thread has run for longer after it has worked',
  { skip: !isTold && 'this kernel does not tell it' },
  (t) => {
    const before = readThreadTime().ran
    const until = performance.now() + 50
    let sum = 0
    while (performance.now() < until) sum += 1
    t.ok(readThreadTime().ran > before, `${sum} steps`)
    t.end()
  },
)

t.test('a kernel that does not tell it is no error', (t) => {
  t.same(readThreadTime('/proc/self/no-such-file'), { ran: 0, waited: 0 })
  t.same(readThreadTime('/proc/self/cmdline'), { ran: 0, waited: 0 })
  t.end()
})

t.test('a wait is long that takes a quarter of the time for which the thread wanted a processor', (t) => {
  const time = { ran: 1_000, waited: 5_000 }
  const wait = watchProcessorWait(() => ({ ...time }))
  function pass(ran: number, waited: number): boolean {
    time.ran += ran
    time.waited += waited
    wait.look()
    return wait.isLong()
  }
  t.equal(wait.isLong(), false, 'nothing was looked at')
  t.equal(pass(0, 0), false, 'what was before counts for nothing')
  t.equal(pass(50, 15), false)
  t.equal(pass(20, 10), true, '25 of 95')
  t.equal(pass(50, 0), false, '25 of 145')
  t.equal(pass(0, 50), true)
  for (let i = 0; i < 4; i += 1) t.equal(pass(0, 1), true)
  t.equal(pass(0, 1), false, 'it was six looks ago, and less than 20 ms are no harm')
  t.equal(pass(0, 50), true)
  wait.reset()
  t.equal(wait.isLong(), false)
  t.end()
})
