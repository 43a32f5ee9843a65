import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import type { KeyLogin } from '../../../functions/domain/credentials/login.ts'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import type { rawSignature } from '../../../functions/domain/signing/raw-signature.ts'
import { openKeyCheck } from '../../../functions/git/ssh/key-check.ts'
import { makeRSA, pkcs1, rsaFiles, withoutPrime } from '../../harness/key-files.ts'
import { pem } from '../../harness/der-writer.ts'
import { makeKey } from '../../harness/ssh-keys.ts'
import { outcomeOf, patience } from '../stage.ts'
import { keyLogin } from './stage.ts'

const ADDRESS = parseRepositoryAddress('git@git.example.com:acme/shop.git')
const RSA = makeRSA(2048)
const INVALID = {
  reason: 'CredentialsInvalid',
  message: /^git@git.example.com:acme\/shop.git|cannot be used/,
}

t.test('a key that signs as it should can be used, one with a factor that is no prime cannot', async (t) => {
  const check = openKeyCheck()
  for (const [, privateKey] of rsaFiles(RSA)) await check(keyLogin({ privateKey }, ''), ADDRESS, patience())
  for (const [, privateKey] of rsaFiles(withoutPrime(RSA)))
    t.match(await outcomeOf(check(keyLogin({ privateKey }, ''), ADDRESS, patience())), INVALID)
  await check(keyLogin(makeKey('-t', 'ed25519'), ''), ADDRESS, patience())
})

/** A check whose signatures take a while, how many of each sort were made, and how many of it at once. */
function stage(takesMs = 0) {
  let now = 0
  const made = { quick: 0, slow: 0 }
  const running = { quick: 0, slow: 0 }
  const most = { quick: 0, slow: 0 }
  const sign: typeof rawSignature = async (data, { privateKey }) => {
    const sort = (privateKey.asymmetricKeyDetails?.modulusLength ?? 0) > 4096 ? 'slow' : 'quick'
    made[sort] += 1
    most[sort] = Math.max(most[sort], (running[sort] += 1))
    for (let i = 0; i < 10; i += 1) await setImmediate()
    running[sort] -= 1
    now += takesMs
    return data
  }
  return { check: openKeyCheck(sign, () => now), made, most }
}

/** Logins of this namespace, each with another identity. */
function logins(namespace: string, bytes: Buffer, count = 8): readonly KeyLogin[] {
  const privateKey = pem('RSA PRIVATE KEY', bytes)
  return Array.from({ length: count }, (_, i) => ({
    ...keyLogin({ privateKey: rsaFiles(RSA)[0]![1] }, '', namespace),
    privateKey,
    identity: `${namespace} ${i}`,
  }))
}

/** Takes long to sign with, and is read at once. */
const LONG = pkcs1({ ...RSA, n: (RSA.n << 4000n) + 1n })

t.test('of all keys that are checked one signs at a time, and beside it a slow one', async (t) => {
  const { check, made, most } = stage()
  const all = [...logins('evil', LONG), ...logins('shop', pkcs1(RSA))]
  await Promise.all(all.map((login) => check(login, ADDRESS, patience())))
  t.same(most, { quick: 1, slow: 1 })
  t.same(made, { quick: 8, slow: 8 })
  await Promise.all([...all, ...all].map((login) => check(login, ADDRESS, patience())))
  t.same(made, { quick: 8, slow: 8 }, 'a login that is known signs no more')
})

t.test('the keys of a namespace keep that of another one waiting for one of them', async (t) => {
  const { check, made } = stage()
  const evil = logins('evil', LONG).map((login) => check(login, ADDRESS, patience()))
  const [login] = logins('shop', LONG, 1)
  await check(login!, ADDRESS, patience())
  t.ok(made.slow <= 4, `after ${made.slow} signatures`)
  await Promise.all(evil)
})

t.test('ten namespaces whose keys are checked all the time are known by it', async (t) => {
  const { check, made } = stage(300)
  const names = Array.from({ length: 10 }, (_, index) => `evil-${index}`)
  const evil = names.flatMap((name) =>
    logins(name, LONG, 4).map((login) => check(login, ADDRESS, patience())),
  )
  while (made.slow < 20) await setImmediate()
  const before = made.slow
  const [login] = logins('shop', LONG, 1)
  await check(login!, ADDRESS, patience())
  t.ok(made.slow <= before + 3, `after ${made.slow - before} signatures`)
  await Promise.all(evil)
})

t.test('of a login that is checked many times at once, one signature is made', async (t) => {
  const { check, made } = stage()
  const [login] = logins('shop', LONG, 1)
  await Promise.all(Array.from({ length: 8 }, () => check(login!, ADDRESS, patience())))
  t.same(made, { quick: 0, slow: 1 })
})

t.test('who waits for too long gets a Timeout', async (t) => {
  const { check } = stage()
  const [first, second] = logins('shop', LONG, 2)
  const running = check(first!, ADDRESS, patience())
  const abort = new AbortController()
  const waiting = outcomeOf(check(second!, ADDRESS, abort.signal))
  abort.abort()
  t.match(await waiting, { reason: 'Timeout' })
  await running
})
