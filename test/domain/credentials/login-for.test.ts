import t from 'tap'
import { WITHOUT_TOKEN } from '../../../functions/domain/credentials/app-login.ts'
import { loginFor } from '../../../functions/domain/credentials/login-for.ts'
import type { SecretData } from '../../../functions/domain/credentials/secret-keys.ts'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { targetOf } from '../../../functions/domain/repository/target.ts'
import type { Calls } from '../../../functions/domain/repository/target.ts'
import { makeKey } from '../../harness/ssh-keys.ts'

const { privateKey, publicKey } = makeKey('-t', 'ed25519')
const HTTPS = 'https://git.example.com/acme/shop.git'
const SSH = 'git@git.example.com:acme/shop.git'

/** A Secret that holds everything. */
const SECRET: SecretData = {
  namespace: 'shop',
  name: 'git',
  type: 'kubernetes.io/ssh-auth',
  annotations: {},
  data: new Map(
    Object.entries({ token: 's3cret', 'ssh-privatekey': privateKey }).map(([key, value]) => [
      key,
      Buffer.from(value),
    ]),
  ),
}

function login<C extends Calls>(calls: C, repository: string, operatorHostKeys?: string) {
  const kind = calls === 'api' ? 'PullRequest' : 'GitCommit'
  const target = targetOf(kind, parseRepositoryAddress(repository), { provider: 'gitlab' })
  const use = { target, credentials: { secretName: 'git' }, operatorHostKeys, tokenFor: WITHOUT_TOKEN }
  return loginFor(calls, use, SECRET)
}

t.test('Git over HTTPS gets a user name and a token, Git over SSH a key, the API a token', async (t) => {
  t.match(await login('git', HTTPS), { method: 'password', username: 'oauth2', password: 's3cret' })
  const byKey = await login('git', SSH, `git.example.com ${publicKey}`)
  t.match(byKey, { method: 'key', privateKey: /PRIVATE KEY/, hostKeys: /ssh-ed25519/ })
  for (const repository of [HTTPS, SSH])
    t.match(await login('api', repository), { username: undefined, secret: 's3cret' }, repository)
})

t.test('the logins for Git and for the API are not the same', async (t) => {
  t.not((await login('git', HTTPS)).identity, (await login('api', HTTPS)).identity)
})

t.test('unusable credentials reject the promise, and are never thrown synchronously', async (t) => {
  const failing = login('git', SSH)
  await t.rejects(failing, { name: 'Failure', reason: 'HostKeyUnknown' })
})
