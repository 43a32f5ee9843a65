import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { shareSigning } from '../../../functions/attempt/turns/shared-signing.ts'

/** Signers of one pod, and the names of those that sign now, in the order in which they began. */
function stage() {
  const share = shareSigning()
  const running: string[] = []
  const begun: string[] = []
  const most = { slow: 0, quick: 0 }
  const signer = (namespace: string, isSlow: boolean) =>
    share(namespace, {
      isSlow,
      async sign(commit) {
        const sort = isSlow ? 'slow' : 'quick'
        running.push(sort)
        begun.push(namespace)
        most[sort] = Math.max(most[sort], running.filter((one) => one === sort).length)
        // A slow one takes longer than many quick ones.
        for (let i = 0; i < (isSlow ? 50 : 1); i += 1) await setImmediate()
        running.splice(running.indexOf(sort), 1)
        return commit.toString()
      },
    })
  return { begun, most, signer }
}

const times = (count: number, sign: () => Promise<string>): readonly Promise<string>[] =>
  Array.from({ length: count }, sign)

t.test('of all pushes of a pod, one signature is made at a time, and one with a slow key', async (t) => {
  const { most, signer } = stage()
  const commit = Buffer.from('commit')
  const [slow, quick] = [signer('evil', true), signer('shop', false)]
  const all = [...times(8, () => slow.sign(commit)), ...times(8, () => quick.sign(commit))]
  t.same(new Set(await Promise.all(all)), new Set(['commit']))
  t.same(most, { slow: 1, quick: 1 })
})

t.test('a quick signature waits for no slow one, and a namespace for one of each other', async (t) => {
  const { begun, signer } = stage()
  const commit = Buffer.from('commit')
  const evil = times(8, () => signer('evil', true).sign(commit))
  const late = times(2, () => signer('market', true).sign(commit))
  for (let i = 0; i < 5; i += 1) await signer('shop', false).sign(commit)
  t.same(begun, ['evil', ...Array.from({ length: 5 }, () => 'shop')])
  await Promise.all(late)
  t.ok(begun.filter((name) => name === 'evil').length <= 4, begun.join())
  await Promise.all(evil)
})

t.test('ten namespaces that sign with slow keys all the time are known by it', async (t) => {
  let now = 0
  const share = shareSigning(() => now)
  const begun: string[] = []
  const signer = (namespace: string, takesMs: number) =>
    share(namespace, {
      isSlow: true,
      async sign(commit) {
        begun.push(namespace)
        await setImmediate()
        now += takesMs
        return commit.toString()
      },
    })
  const commit = Buffer.from('commit')
  const evil = Array.from({ length: 10 }, (_, index) => signer(`evil-${index}`, 300))
  const all = evil.flatMap((one) => times(8, () => one.sign(commit)))
  while (begun.length < 25) await setImmediate()
  for (let commits = 0; commits < 3; commits += 1) {
    const before = begun.length
    await signer('shop', 40).sign(commit)
    t.ok(begun.indexOf('shop', before) <= before + 1, 'it is next')
  }
  await Promise.all(all)
})

t.test('a failure passes the turn on', async (t) => {
  const share = shareSigning()
  const broken = share('evil', { sign: () => Promise.reject(new Error('No.')) })
  const [failed, next] = [broken.sign(Buffer.from('')), stage().signer('shop', false).sign(Buffer.from('in'))]
  await t.rejects(failed, { message: 'No.' })
  t.equal(await next, 'in')
  await t.rejects(broken.sign(Buffer.from('')), { message: 'No.' }, 'and keeps nothing waiting')
})
