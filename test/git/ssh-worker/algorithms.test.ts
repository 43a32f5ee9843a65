import ssh2 from 'ssh2'
import t from 'tap'
import { algorithmsFor, authMethods } from '../../../functions/git/ssh-worker/algorithms.ts'
import { makeKey } from '../../harness/ssh-keys.ts'

function parsed(...args: readonly string[]): ssh2.ParsedKey {
  const key = ssh2.utils.parseKey(makeKey(...args).privateKey)
  if (key instanceof Error) throw key
  return key
}

t.test('nothing based on SHA-1, MD5 or CBC is offered', async (t) => {
  const offered = Object.values(algorithmsFor([])).flat().map(String)
  t.ok(offered.length > 20)
  for (const name of offered) t.notMatch(name, /sha1|md5|cbc|arcfour|^ssh-rsa$|^ssh-dss$/)
})

t.test('no group is accepted from a server, because its prime would have to be tested', async (t) => {
  const names = algorithmsFor([]).kex
  t.ok(Array.isArray(names) && names.length > 5)
  t.notMatch(JSON.stringify(names), /group-exchange/)
})

t.test('no group whose key exchange holds a processor for long is offered', async (t) => {
  const names = JSON.stringify(algorithmsFor([]).kex)
  t.match(names, 'diffie-hellman-group14-sha256')
  t.notMatch(names, /group1[5-8]/)
})

t.test('the types of known keys come first', async (t) => {
  const known = [{ type: 'ssh-rsa', bytes: Buffer.alloc(0) }]
  const names = algorithmsFor(known).serverHostKey
  t.same(Array.isArray(names) && names.slice(0, 3), ['rsa-sha2-512', 'rsa-sha2-256', 'ssh-ed25519'])
})

t.test('an RSA key signs with SHA-512, then with SHA-256, another key with its only algorithm', async (t) => {
  const rsa = parsed('-t', 'rsa', '-b', '2048')
  const routeSettings = authMethods(rsa, 'git').map(({ key }) => key)
  t.same(
    routeSettings.map((key) => (key as ssh2.ParsedKey).type),
    ['rsa-sha2-512', 'rsa-sha2-256'],
  )
  for (const [i, hash] of ['sha512', 'sha256'].entries()) {
    t.equal(rsa.verify('data', (routeSettings[i] as ssh2.ParsedKey).sign('data'), hash), true)
  }
  const ed25519 = parsed('-t', 'ed25519')
  t.same(authMethods(ed25519, 'git'), [{ type: 'publickey', username: 'git', key: ed25519 }])
})
