import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { openTransport } from '../../../functions/git/session/transport.ts'
import { makeKey } from '../../harness/ssh-keys.ts'
import { keyLogin } from '../ssh/stage.ts'
import { loginOf, outcomeOf, patience } from '../stage.ts'

const KEY = keyLogin(makeKey('-t', 'ed25519'), '')
const PASSWORD = loginOf('s3cr3t')
const REACH = { authorities: undefined, addresses: ['127.0.0.1'], proxy: undefined, insecure: false }

for (const [text, login] of [
  ['https://git.example.com/acme/shop.git', KEY],
  ['http://git.example.com/acme/shop.git', KEY],
  ['git@git.example.com:acme/shop.git', PASSWORD],
  ['ssh://git@git.example.com/acme/shop.git', PASSWORD],
] as const) {
  t.test(`${text} is not called with a ${login.method}`, async (t) => {
    const destination = { ...REACH, address: parseRepositoryAddress(text) }
    const work = openTransport(destination, login, patience())
    t.match(await outcomeOf(work), { reason: 'Internal', message: text })
  })
}

t.test('git gets the address over HTTPS, and the name of a remote over SSH', async (t) => {
  for (const [text, login, expected] of [
    ['https://git.example.com/acme/shop.git', PASSWORD, 'https://git.example.com/acme/shop.git'],
    ['ssh://git@127.0.0.1:1/acme/shop.git', KEY, 'tunnel'],
  ] as const) {
    const destination = { ...REACH, address: parseRepositoryAddress(text) }
    const transport = await openTransport(destination, login, patience())
    t.equal(transport.url, expected)
    transport.close()
  }
})
