import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { hintAppPasswords } from '../../../functions/domain/credentials/app-passwords.ts'
import type { Login } from '../../../functions/domain/credentials/login.ts'
import { Failure } from '../../../functions/domain/failure.ts'

const BITBUCKET = parseRepositoryAddress('https://bitbucket.org/acme/shop.git')
const REFUSED = new Failure(
  'AuthenticationFailed',
  'The host does not accept it (401); put a valid one there.',
)

function by(username: string): Login {
  return { method: 'password', username, password: 'p', identity: 'i', secrets: [] }
}

t.test('a user name that Bitbucket knows of app passwords gets the hint', async (t) => {
  t.match(hintAppPasswords(REFUSED, by('developer'), BITBUCKET), {
    name: 'Failure',
    reason: 'AuthenticationFailed',
    retry: 'slow',
    message:
      'The host does not accept it (401); put a valid one there; Bitbucket takes no app passwords any more, but API tokens and access tokens.',
  })
})

const KEY: Login = { method: 'key', privateKey: 'k', hostKeys: 'h', identity: 'i', secrets: [] }

for (const [title, error, login, repository] of [
  ['an access token', REFUSED, by('x-token-auth'), BITBUCKET.text],
  ['an API token', REFUSED, by('x-bitbucket-api-token-auth'), BITBUCKET.text],
  ['another host', REFUSED, by('developer'), 'https://git.example.com/acme/shop.git'],
  ['a host that only looks like it', REFUSED, by('developer'), 'https://bitbucket.org.example.com/a/b'],
  ['a private key', REFUSED, KEY, 'git@bitbucket.org:acme/shop.git'],
  ['another reason', new Failure('PermissionDenied', 'No.'), by('developer'), BITBUCKET.text],
  ['a bug', new TypeError('a bug'), by('developer'), BITBUCKET.text],
] as const) {
  t.test(`with ${title} there is nothing to hint at`, async (t) => {
    t.equal(hintAppPasswords(error, login, parseRepositoryAddress(repository)), error)
  })
}
