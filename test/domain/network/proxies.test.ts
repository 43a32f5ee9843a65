import t from 'tap'
import { proxyFor, readProxies, secretsOfProxy } from '../../../functions/domain/network/proxies.ts'
import { WrongSetting } from '../../../functions/domain/settings.ts'

t.test('without variables every host is called directly', async (t) => {
  t.same(readProxies({ HTTPS_PROXY: '', no_proxy: '' }), { proxy: undefined, exceptions: [] })
})

for (const [value, expected] of [
  [
    'http://proxy.example.com:3128',
    ['http', 'proxy.example.com', 3128, '', '', 'http://proxy.example.com:3128'],
  ],
  ['proxy.example.com:3128', ['http', 'proxy.example.com', 3128, '', '', 'http://proxy.example.com:3128']],
  ['http://proxy.example.com/', ['http', 'proxy.example.com', 80, '', '', 'http://proxy.example.com:80']],
  ['https://Proxy.example.com', ['https', 'proxy.example.com', 443, '', '', 'https://proxy.example.com:443']],
  ['http://[2001:db8::7]:3128', ['http', '2001:db8::7', 3128, '', '', 'http://[2001:db8::7]:3128']],
  [
    'http://me:p%40s%3As%2f@10.0.0.7:80',
    ['http', '10.0.0.7', 80, 'me', 'p@s:s/', 'http://me:p%40s%3As%2F@10.0.0.7:80'],
  ],
  ['https://me@p.example', ['https', 'p.example', 443, 'me', '', 'https://me:@p.example:443']],
] as const) {
  t.test(`the proxy ${value} is used, with its port`, async (t) => {
    const { proxy } = readProxies({ HTTPS_PROXY: value })
    t.same(
      proxy && [proxy.scheme, proxy.host, proxy.port, proxy.username, proxy.password, proxy.url],
      expected,
    )
  })
}

for (const value of [
  'socks5://s3cret.example.com',
  'ftp://me:s3cret@p.example',
  'http://',
  'http://me:s3cret@p.example:99999',
  'http://me:s3cret@p.example/path',
  'http://me:s3cret@p.example/?x',
  'http://me:s3cret%@p.example',
  'http://me:s3cret%0d%0a@p.example',
  'http://me:s3cret @p.example',
  ' http://me:s3cret@p.example ',
]) {
  t.test(`${JSON.stringify(value)} stops the start without being shown`, async (t) => {
    for (const name of ['HTTPS_PROXY', 'https_proxy']) {
      const message = `${name} has to be the address of an http or https proxy, such as http://user:password@proxy.example.com:3128, but is not.`
      t.throws(() => readProxies({ [name]: value }), new WrongSetting(message))
    }
  })
}

t.test('the upper-case form comes first', async (t) => {
  const env = {
    HTTPS_PROXY: 'http://a.example',
    https_proxy: 'http://b.example',
    NO_PROXY: 'c',
    no_proxy: 'd',
  }
  const { proxy, exceptions } = readProxies(env)
  t.equal(proxy?.host, 'a.example')
  t.same(exceptions, ['c'])
  t.same(readProxies({ no_proxy: 'D, e  f,,.G ' }).exceptions, ['d', 'e', 'f', '.g'])
})

for (const [entry, covered, others] of [
  ['*', ['a.example', '10.0.0.7', '::1'], []],
  [
    'git.example.com',
    ['git.example.com', 'a.git.example.com', 'git.example.com:8443'],
    ['example.com', 'agit.example.com', 'git.example.com.evil.example'],
  ],
  ['.example.com', ['git.example.com', 'example.com'], ['badexample.com']],
  ['*.example.com', ['git.example.com', 'example.com'], ['badexample.com']],
  ['git.example.com:8443', ['git.example.com:8443', 'a.git.example.com:8443'], ['git.example.com']],
  ['10.0.0.7', ['10.0.0.7', '10.0.0.7:8443'], ['10.0.0.70', 'a.10.0.0.7.example']],
  ['10.0.0.7:8443', ['10.0.0.7:8443'], ['10.0.0.7']],
  ['10.0.0.0/8', ['10.0.0.7', '10.255.0.1:8443'], ['11.0.0.1', 'git.example.com', '2001:db8::1']],
  ['2001:db8::/32', ['2001:db8::7'], ['2001:db9::7', '10.0.0.7']],
  ['2001:db8::7', ['2001:db8::7'], ['2001:db8::8']],
  ['[2001:db8::7]:8443', ['[2001:db8::7]:8443'], ['2001:db8::7']],
  ['localhost', ['localhost', 'localhost:8443'], ['127.0.0.1']],
] as const) {
  t.test(`NO_PROXY=${entry} excludes what it names and nothing else`, async (t) => {
    const proxies = readProxies({ HTTPS_PROXY: 'http://p.example', NO_PROXY: `x.example,${entry}` })
    for (const place of covered) t.equal(proxyFor(destination(place), proxies), undefined, place)
    for (const place of others) t.equal(proxyFor(destination(place), proxies), proxies.proxy, place)
  })
}

function destination(place: string) {
  const [, host = place, port] = /^\[?(.*?)\]?:(\d{4})$/.exec(place) ?? []
  return { scheme: 'https', host, port: Number(port ?? 443) }
}

for (const entry of [
  'a_b',
  'http://a.example',
  '10.0.0.0/33',
  '2001:db8::/129',
  'a.example/8',
  'a.*.example',
  '[::1',
  '-',
]) {
  t.test(`NO_PROXY=${entry} stops the start`, async (t) => {
    const message = `NO_PROXY has the entry "${entry}", but each has to be a host, a domain, an IP address, a block of them such as 10.0.0.0/8, or *, with or without a port.`
    t.throws(() => readProxies({ NO_PROXY: `a.example,${entry}` }), new WrongSetting(message))
  })
}

t.test('a password in NO_PROXY is not shown either', async (t) => {
  const message = /^NO_PROXY has the entry "\*\*\*@p.example:3128", but/
  t.throws(() => readProxies({ NO_PROXY: 'http://me:s3cret@p.example:3128' }), { message })
})

t.test('an address that is not https is called directly', async (t) => {
  const proxies = readProxies({ HTTPS_PROXY: 'http://p.example' })
  t.equal(proxyFor({ scheme: 'http', host: 'git.example.com', port: 80 }, proxies), undefined)
  t.equal(proxyFor({ scheme: 'ssh', host: 'git.example.com', port: 22 }, proxies), undefined)
})

t.test('the password of a proxy is a secret, alone and with the user name', async (t) => {
  const { proxy } = readProxies({ HTTPS_PROXY: 'http://me:p%40ss@p.example' })
  t.same(proxy && secretsOfProxy(proxy), ['p@ss', 'me:p@ss'])
  const { proxy: open } = readProxies({ HTTPS_PROXY: 'http://me@p.example' })
  t.same(open && secretsOfProxy(open), [])
})
