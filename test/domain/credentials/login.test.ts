import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { bytesBeyondUsual, withPasswordHint } from '../../../functions/domain/credentials/login.ts'
import { targetOf } from '../../../functions/domain/repository/target.ts'
import type { Target } from '../../../functions/domain/repository/target.ts'
import type { Login } from '../../../functions/domain/credentials/login.ts'
import { Failure } from '../../../functions/domain/failure.ts'

const BITBUCKET = 'https://bitbucket.org/acme/shop.git'

/** A repository with the provider Bitbucket, whatever its host. */
function target(repository: string): Target {
  return targetOf('GitCommit', parseRepositoryAddress(repository), { provider: 'bitbucket' })
}

const REFUSED = new Failure(
  'AuthenticationFailed',
  'The host does not accept it (401); put a valid one there.',
)

function by(username: string): Login {
  return { method: 'password', username, password: 'p', identity: 'i', secrets: [] }
}

t.test('what a login takes beyond usual ones is counted', async (t) => {
  const [key, values] = ['x'.repeat(3_300), Array.from({ length: 52 }, () => 'x'.repeat(64))]
  const usual = { method: 'key', namespace: 'team', privateKey: key, hostKeys: key, identity: 'i' } as const
  t.equal(bytesBeyondUsual({ ...usual, secrets: values }), 0)
  const many = Array.from({ length: 1_024 }, () => 'x'.repeat(60))
  const bytes = bytesBeyondUsual({ ...usual, hostKeys: 'x'.repeat(70_000), secrets: many })
  t.ok(bytes > 130_000, `${bytes}`)
  t.ok(bytesBeyondUsual({ ...by('dev'), secrets: many }) > 60_000)
})

t.test('a user name that goes with app passwords of Bitbucket gets the hint', async (t) => {
  t.match(withPasswordHint(REFUSED, by('developer'), target(BITBUCKET)), {
    name: 'Failure',
    reason: 'AuthenticationFailed',
    retry: 'slow',
    message:
      'The host does not accept it (401); put a valid one there; Bitbucket no longer accepts app passwords, only API tokens and access tokens.',
  })
})

const KEY: Login = {
  method: 'key',
  namespace: 'shop',
  privateKey: 'k',
  hostKeys: 'h',
  identity: 'i',
  secrets: [],
}

for (const [title, error, login, repository] of [
  ['an access token', REFUSED, by('x-token-auth'), BITBUCKET],
  ['an API token', REFUSED, by('x-bitbucket-api-token-auth'), BITBUCKET],
  ['another host', REFUSED, by('developer'), 'https://git.example.com/acme/shop.git'],
  ['a host that only looks like it', REFUSED, by('developer'), 'https://bitbucket.org.example.com/a/b'],
  ['a private key', REFUSED, KEY, 'git@bitbucket.org:acme/shop.git'],
  ['another reason', new Failure('PermissionDenied', 'No.'), by('developer'), BITBUCKET],
  ['a bug', new TypeError('a bug'), by('developer'), BITBUCKET],
] as const) {
  t.test(`with ${title} there is no hint`, async (t) => {
    t.equal(withPasswordHint(error, login, target(repository)), error)
  })
}
