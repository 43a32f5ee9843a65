import t from 'tap'
import { Busy, turnstile } from '../functions/turns.ts'

const bounds = { total: 3, share: 2, waiting: 4, waitingShare: 3 }
const of = (namespace: string, host = namespace): { namespace: string; host: string } => ({ namespace, host })

t.test('no namespace and no host holds more than its share', async (t) => {
  const take = turnstile(bounds)
  const started: string[] = []
  const turn = async (name: string, keys: ReturnType<typeof of>): Promise<() => void> => {
    const end = await take(keys)
    started.push(name)
    return end
  }
  const a1 = await turn('a1', of('a'))
  await turn('a2', of('a'))
  const a3 = turn('a3', of('a'))
  await turn('b1', of('b'))
  t.same(started, ['a1', 'a2', 'b1'], 'a third turn is free, but not for a')
  a1()
  await a3
  t.same(started, ['a1', 'a2', 'b1', 'a3'])
})

t.test('a host that hangs leaves turns for others', async (t) => {
  const take = turnstile(bounds)
  await take(of('a', 'slow.example.com'))
  await take(of('b', 'slow.example.com'))
  let third = false
  void take(of('c', 'slow.example.com')).then(() => (third = true))
  const other = await take(of('c', 'git.example.com'))
  t.notOk(third)
  other()
})

t.test('the next turn goes to the namespace that has the fewest', async (t) => {
  const take = turnstile({ ...bounds, total: 2 })
  const order: string[] = []
  const end1 = await take(of('a'))
  const end2 = await take(of('a'))
  const a = take(of('a')).then((end) => (order.push('a'), end))
  const b = take(of('b')).then((end) => (order.push('b'), end))
  end1()
  end1()
  await b
  t.same(order, ['b'], 'though a came first')
  end2()
  await a
  t.same(order, ['b', 'a'])
})

t.test('where too many wait, the next is told at once', async (t) => {
  const take = turnstile(bounds)
  await take(of('a'))
  await take(of('a'))
  for (let i = 0; i < 3; i += 1) void take(of('a'))
  await t.rejects(take(of('a')), new Busy(), 'a has its places')
  await take(of('b'))
  void take(of('c'))
  await t.rejects(take(of('d')), new Busy(), 'all places are taken')
})
