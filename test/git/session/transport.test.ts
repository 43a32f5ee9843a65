import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { openTransport } from '../../../functions/git/session/transport.ts'
import { openSSHSessions } from '../../../functions/git/ssh/sessions.ts'
import { startFaultyServer } from '../../harness/ssh-faulty.ts'
import { makeKey } from '../../harness/ssh-keys.ts'
import { keyLogin, openSSHStage, sshChange } from '../ssh/stage.ts'
import { loginOf, outcomeOf, patience } from '../stage.ts'

const KEY = keyLogin(makeKey('-t', 'ed25519'), '')
const PASSWORD = loginOf('s3cr3t')
const ssh = openSSHSessions()
t.teardown(() => ssh.close())
const REACH = { ssh, authorities: '/nowhere', addresses: ['127.0.0.1'], proxy: undefined, insecure: false }

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

t.test(
  'nothing is pushed over SSH where the server says at the fetch that the repository has moved',
  async (t) => {
    const [server, stage] = [await startFaultyServer(), await openSSHStage()]
    t.teardown(() => Promise.all([server.close(), stage.close()]))
    const repository = await server.createRepository('acme/old')
    const login = keyLogin(makeKey('-t', 'ed25519'), server.knownHosts)
    const push = (path: string) => stage.push(sshChange(repository.url, path), login)
    t.match(await push('a.md'), { outcome: 'pushed' })
    server.faults.command = (channel) => {
      channel.stderr.write("remote: \nremote: Project 'acme/old' was moved to 'market/new'.\nremote: \n")
      return false
    }
    t.match(await push('b.md'), {
      reason: 'RepositoryNotFound',
      fallback: false,
      message: `${repository.url} has moved to ${server.url}/market/new.git; put`,
    })
    t.strictSame(await repository.log(), ['Write a.md', 'Begin'])
  },
)
