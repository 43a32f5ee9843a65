import t from 'tap'
import { tellBoth, watchPushes } from '../../../functions/domain/resource/late-push.ts'

t.test('a push may be carried out late until it is answered, or a later one has landed', async (t) => {
  const watch = watchPushes(false)
  t.notOk(watch.mayBeLate(), 'nothing was sent')
  watch.sent()
  t.ok(watch.mayBeLate())
  watch.answered(false)
  t.notOk(watch.mayBeLate(), 'refused')
  watch.sent()
  watch.sent()
  watch.answered(false)
  t.ok(watch.mayBeLate(), 'the first has no answer')
  watch.sent()
  watch.answered(true)
  t.notOk(watch.mayBeLate(), 'the branch has moved')
})

t.test('a push of an earlier attempt may be late as well', async (t) => {
  const watch = watchPushes(true)
  watch.sent()
  watch.answered(false)
  t.ok(watch.mayBeLate(), 'a refusal says nothing about it')
  watch.sent()
  watch.answered(true)
  t.notOk(watch.mayBeLate())
})

t.test('whether an attempt has sent a push is known, whatever has become of it', async (t) => {
  for (const before of [false, true]) {
    const watch = watchPushes(before)
    t.notOk(watch.hasSent(), 'those before it are not its own')
    watch.sent()
    watch.unread()
    t.notOk(watch.hasSent(), 'nor is one that the remote has not looked at')
    t.equal(watch.mayBeLate(), before)
    watch.sent()
    watch.answered(before)
    t.ok(watch.hasSent())
  }
})

t.test('two watches are told of each push, also where there is only one', async (t) => {
  const watches = [watchPushes(false), watchPushes(true)] as const
  const both = tellBoth(...watches)
  both.sent()
  tellBoth(watches[0], undefined).sent()
  t.strictSame(
    watches.map((watch) => watch.mayBeLate()),
    [true, true],
  )
  both.answered(true)
  t.strictSame(
    watches.map((watch) => watch.mayBeLate()),
    [false, false],
  )
  both.sent()
  both.unread()
  t.strictSame(
    watches.map((watch) => watch.mayBeLate()),
    [false, false],
  )
})
