import t from 'tap'
import { connectCluster } from '../../functions/cluster/connect.ts'
import { cpuTime } from '../harness/cpu-time.ts'
import { allowedMs } from '../harness/growth.ts'

function secretOf(keys: number): string {
  const data = Object.fromEntries(Array.from({ length: keys }, (_, i) => [`key-${i}`, '']))
  return JSON.stringify({ kind: 'Secret', metadata: { namespace: 'shop', name: 'git' }, data })
}

t.test('a Secret of 100,000 keys is refused before it is parsed, and one of 1,000 is read', async (t) => {
  const read = (text: string) =>
    connectCluster(() => Promise.resolve({ status: 200, text })).readSecret('shop', 'git')
  const large = secretOf(100_000)
  const start = cpuTime()
  await t.rejects(read(large), {
    name: 'Failure',
    reason: 'CredentialsInvalid',
    message: /^The Secret shop\/git has more than 10,000 keys/,
  })
  const took = cpuTime() - start
  t.ok(took < allowedMs(10), `${took} ms`)
  t.equal((await read(secretOf(1_000))).data.size, 1_000)
})
