import t from 'tap'
import { editText } from '../../functions/domain/edit/edit-text.ts'
import { startEditThread } from '../../functions/edits/edit-thread.ts'
import { ownerOf, SET, valuesOf } from './stage.ts'

const { signal } = ownerOf('shop')

t.test('a thread makes one edit after the other, as it is made here', async (t) => {
  const thread = startEditThread(64)
  t.teardown(thread.end)
  const before = valuesOf(20_000)
  const after = await thread.run(before, SET, signal)
  t.same(Buffer.from(after === 'memory' ? [] : after), Buffer.from(editText(before, SET)))
  await t.rejects(thread.run(Buffer.from('a: {{ x }}'), SET, signal), {
    reason: 'PathConflict',
    message: /^The file values\.yaml .*of a template/,
  })
  await t.rejects(thread.run(Buffer.from("? 'zz'\n"), SET, signal), {
    reason: 'NotSupported',
    retry: 'slow',
    message: /in place/,
  })
  t.notOk(thread.isEnding(), 'a refusal leaves the thread')
  t.same(
    Buffer.from((await thread.run(Buffer.from('a: 1\n'), SET, signal)).slice()).toString(),
    'a: 1\nzz: x\n',
  )
})

t.test('a heap that is too small ends the thread alone', async (t) => {
  const thread = startEditThread(10)
  t.equal(await thread.run(valuesOf(200_000), SET, signal), 'memory')
  t.ok(thread.isEnding())
})

t.test('an edit that takes too long ends with Timeout, and so does the thread', async (t) => {
  const thread = startEditThread(240, 50)
  await t.rejects(thread.run(valuesOf(500_000), SET, signal), {
    reason: 'Timeout',
    message: /^The file values\.yaml took longer than 0\.05 s/,
  })
  t.ok(thread.isEnding())
})

t.test('an edit that nobody waits for is ended', async (t) => {
  const thread = startEditThread(240)
  const abort = new AbortController()
  const running = thread.run(valuesOf(500_000), SET, abort.signal)
  abort.abort(new Error('gone'))
  await t.rejects(running, /gone/)
  t.ok(thread.isEnding())
  const late = startEditThread(64)
  await t.rejects(late.run(valuesOf(10), SET, abort.signal), /gone/)
})

t.test('a thread that has ended says so', async (t) => {
  const thread = startEditThread(64)
  const running = thread.run(valuesOf(500_000), SET, signal)
  await thread.end()
  await t.rejects(running, /has ended/)
})
