import t from 'tap'
import type { Waiter } from '../../../functions/git/group-commit/queue/branch-queue.ts'
import { apartKey, keyOf } from '../../../functions/git/group-commit/queue/queue-keys.ts'
import { changeOf, loginOf, pending } from '../stage.ts'

function waiterFor(url: string, password = 'token'): Waiter {
  return { pending: pending(changeOf(url, 'a.md')), login: loginOf(password), settle: () => undefined }
}

t.test('the keys of a queue are short, however long an address is', async (t) => {
  const long = `https://git.example.com/${'a'.repeat(2000)}/shop.git`
  const other = `https://git.example.com/${'a'.repeat(2000)}/shop2.git`
  t.ok(apartKey(waiterFor(long)).length < 100)
  t.equal(keyOf(waiterFor(long)), keyOf(waiterFor(long)))
  t.not(keyOf(waiterFor(long)), keyOf(waiterFor(other)))
  t.not(keyOf(waiterFor(long)), keyOf(waiterFor(long, 'another token')))
})
