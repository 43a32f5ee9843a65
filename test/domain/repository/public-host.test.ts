import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { hostOf, publicAPI, publicHost } from '../../../functions/domain/repository/public-host.ts'

t.test('a public host is known by its exact name', async (t) => {
  const hosts = {
    'github.com': 'github',
    'ssh.github.com': 'github',
    'acme.ghe.com': 'github',
    'gitlab.com': 'gitlab',
    'altssh.gitlab.com': 'gitlab',
    'bitbucket.org': 'bitbucket',
    'ssh.bitbucket.org': 'bitbucket',
    'altssh.bitbucket.org': 'bitbucket',
  }
  for (const [host, name] of Object.entries(hosts)) t.equal(publicHost(host)?.name, name, host)
  const others = [
    'git.example.com',
    'evil-github.com',
    'github.com.evil.example',
    'www.github.com',
    'ghe.com',
    'a.b.ghe.com',
    '.ghe.com',
    'evilghe.com',
  ]
  for (const host of others) t.equal(publicHost(host), undefined, host)
})

t.test('the host decides before the provider that is named', async (t) => {
  t.equal(hostOf(parseRepositoryAddress('https://github.com/acme/shop'), 'gitlab')?.name, 'github')
  t.equal(hostOf(parseRepositoryAddress('https://git.example.com/acme/shop'), 'gitlab')?.name, 'gitlab')
  t.equal(hostOf(parseRepositoryAddress('https://git.example.com/acme/shop'), 'other'), undefined)
  t.equal(hostOf(parseRepositoryAddress('https://git.example.com/acme/shop'), undefined), undefined)
})

t.test('the API of a public host is its own', async (t) => {
  t.same(publicAPI('github.com'), ['https://api.github.com', 'https://uploads.github.com'])
  t.same(publicAPI('ssh.github.com'), ['https://api.github.com', 'https://uploads.github.com'])
  t.same(publicAPI('acme.ghe.com'), ['https://api.acme.ghe.com', 'https://uploads.acme.ghe.com'])
  t.same(publicAPI('gitlab.com'), ['https://gitlab.com/api/v4'])
  t.same(publicAPI('bitbucket.org'), ['https://api.bitbucket.org/2.0'])
  t.equal(publicAPI('git.example.com'), undefined)
})
