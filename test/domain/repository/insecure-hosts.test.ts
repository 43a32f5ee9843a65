import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import {
  insecureWarning,
  isInsecure,
  readInsecureHosts,
} from '../../../functions/domain/repository/insecure-hosts.ts'
import { WrongSetting } from '../../../functions/domain/settings.ts'

t.test('hosts are named with or without a port, which is then the default of the scheme', async (t) => {
  const hosts = readInsecureHosts({ INSECURE_HOSTS: 'git.example.com, 10.0.0.7:8443,[2001:db8::7]:3000' })
  for (const [url, insecure] of [
    ['https://git.example.com/a', true],
    ['http://git.example.com/a', true],
    ['https://git.example.com:8443/a', false],
    ['http://git.example.com:443/a', false],
    ['https://a.git.example.com/a', false],
    ['https://10.0.0.7:8443/a', true],
    ['http://10.0.0.7:8443/a', true],
    ['http://10.0.0.7/a', false],
    ['http://[2001:db8::7]:3000/a', true],
    ['ssh://git@10.0.0.7:8443/a', false],
    ['git@git.example.com:a', false],
  ] as const) {
    t.equal(isInsecure(parseRepositoryAddress(url), hosts), insecure, url)
  }
})

t.test('without the variable there are none, and no warning', async (t) => {
  t.same(readInsecureHosts({}), [])
  t.equal(insecureWarning([]), undefined)
})

t.test('the warning names each of them', async (t) => {
  const warning = insecureWarning(readInsecureHosts({ INSECURE_HOSTS: 'a.example,[2001:db8::7]:3000' }))
  t.match(warning, /^INSECURE_HOSTS is set: .* to a\.example, \[2001:db8::7\]:3000 can read the credentials/)
})

for (const [entry, shown] of [
  ['*', '*'],
  ['*.example.com', '*.example.com'],
  ['https://git.example.com', 'https://git.example.com'],
  ['git.example.com/acme', 'git.example.com/acme'],
  ['Git.example.com', 'Git.example.com'],
  ['git.example.com:0', 'git.example.com:0'],
  ['me:s3cret@git.example.com', '***@git.example.com'],
  ['.example.com', '.example.com'],
  ['10.0.0.0/8', '10.0.0.0/8'],
] as const) {
  t.test(`${entry} stops the start`, async (t) => {
    const message = `INSECURE_HOSTS has the entry "${shown}", but each has to be host[:port] in lower case, such as git.example.com:8443, and never a wildcard.`
    t.throws(() => readInsecureHosts({ INSECURE_HOSTS: `a.example,${entry}` }), new WrongSetting(message))
  })
}
