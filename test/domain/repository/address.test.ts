import fc from '../../harness/fast-check.ts'
import t from 'tap'
import {
  bracketed,
  parseAuthority,
  parseRepositoryAddress,
  parseSegments,
  unbracketed,
  writeAuthority,
} from '../../../functions/domain/repository/address.ts'
import { Failure } from '../../../functions/domain/failure.ts'

const UNDERSTOOD = {
  'https://git.example.com/acme/shop.git': ['https', undefined, 'git.example.com', 443, 'acme shop'],
  'https://git.example.com/acme/shop': ['https', undefined, 'git.example.com', 443, 'acme shop'],
  'https://git.example.com:8443/a/b/c.git': ['https', undefined, 'git.example.com', 8443, 'a b c'],
  'https://localhost:1/a': ['https', undefined, 'localhost', 1, 'a'],
  'https://192.0.2.7/acme/shop': ['https', undefined, '192.0.2.7', 443, 'acme shop'],
  'https://[2001:db8::1]:8443/acme/shop': ['https', undefined, '2001:db8::1', 8443, 'acme shop'],
  'https://xn--mnchen-3ya.example/acme/shop': [
    'https',
    undefined,
    'xn--mnchen-3ya.example',
    443,
    'acme shop',
  ],
  'https://bitbucket.org/{a-b}/{c}.git': ['https', undefined, 'bitbucket.org', 443, '{a-b} {c}'],
  'https://git.example.com/~dev/a+b_c.d': ['https', undefined, 'git.example.com', 443, '~dev a+b_c.d'],
  'https://git.example.com/acme/shop.git.git': ['https', undefined, 'git.example.com', 443, 'acme shop.git'],
  'git@git.example.com:acme/shop.git': ['ssh', 'git', 'git.example.com', 22, 'acme shop'],
  'git@[2001:db8::1]:shop': ['ssh', 'git', '2001:db8::1', 22, 'shop'],
  'git@git.example.com:2222/shop': ['ssh', 'git', 'git.example.com', 22, '2222 shop'],
  'acme@acme.ghe.com:acme/shop.git': ['ssh', 'acme', 'acme.ghe.com', 22, 'acme shop'],
  'ssh://git@git.example.com:2222/acme/shop.git': ['ssh', 'git', 'git.example.com', 2222, 'acme shop'],
  'ssh://git@git.example.com/acme/shop.git': ['ssh', 'git', 'git.example.com', 22, 'acme shop'],
}

function sentenceOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof Failure) return error.message
  }
  throw new Error('nothing was thrown')
}

t.test('an address is taken apart', async (t) => {
  for (const [text, expected] of Object.entries(UNDERSTOOD)) {
    const { scheme, user, host, port, segments, text: kept } = parseRepositoryAddress(text)
    t.same([scheme, user, host, port, segments.join(' '), kept], [...expected, text], text)
  }
})

const ATTACKS: Record<string, readonly string[]> = {
  'a part of the path': [
    'https://h/a/../b',
    'https://h/..',
    'https://h/./a',
    'https://h/a/.',
    'https://h//a',
    'https://h/a/',
    'https://h/',
    'https://h',
    'https://h/.git',
    'https://h/a/...git',
    'git@h:/a',
    'git@h:a/../b',
    'git@h:',
    'https://h/a:b',
    'https://h/a@b',
  ],
  'an escape': ['https://h/%2e%2e/a', 'https://h/a%2fb', 'https://h%2ecom/a', 'https://h/a%00'],
  'a character that readers treat differently': [
    'https://h\\a/b',
    'https://h/a\\b',
    'https://h/a\tb',
    'https://h/a b',
    ' https://h/a',
    'https://h/a\n',
    'https://h/a\u0000',
    'https://h/a?b',
    'https://h/a#b',
    'https://h/a\u00a0',
  ],
  'letters beyond ASCII': [
    'https://gіthub.com/a',
    'https://münchen.example/a',
    'https://ｇithub.com/a',
    'https://h/ä',
  ],
  'another notation of an IP address': [
    'https://127.1/a',
    'https://0x7f.1/a',
    'https://2130706433/a',
    'https://0177.0.0.1/a',
    'https://127.0.0.01/a',
    'https://1.2.3/a',
    'https://[0:0:0:0:0:0:0:1]/a',
    'https://[::ffff:127.0.0.1]/a',
    'https://[::1%25eth0]/a',
    'https://[::g]/a',
  ],
  'another notation of a host': [
    'https://github.com./a',
    'https://GitHub.com/a',
    'https://a..b/c',
    'https://.a/b',
    'https://-a.example/b',
    'https://a-.example/b',
    'https://a_b.example/c',
    `https://${'a'.repeat(64)}.example/b`,
    `https://${'a.'.repeat(127)}a/b`,
    'https:///a',
    'https://a.09/b',
  ],
  'a port': [
    'https://h:443/a',
    'https://h:0443/a',
    'https://h:08443/a',
    'https://h:0/a',
    'https://h:65536/a',
    'https://h:/a',
    'https://h:x/a',
    'ssh://git@h:22/a',
  ],
  'more than 2,048 characters': [`https://h/${'a'.repeat(2_039)}`, `https://h${'/a'.repeat(1_000_000)}`],
  'a user': [
    'https://github.com@evil.example/a',
    'https://user:pw@h/a',
    'https://user@h/a',
    'https://@h/a',
    'ssh://git:pw@h/a',
    'ssh://h/a',
    'ssh://@h/a',
    'ssh://a@b@h/a',
    'h:a',
  ],
  'an option of Git or SSH': [
    '-u',
    '--upload-pack=x',
    'git@h:-a',
    'git@h:--upload-pack=x',
    '-oProxyCommand=x@h:a',
    'ssh://-oProxyCommand=x/a',
    'ssh://-oProxyCommand=x@h/a',
    'git@-h:a',
    'https://-h/a',
  ],
  'another scheme': [
    'HTTPS://h/a',
    'git://h/a',
    'file:///a',
    'ftp://h/a',
    'ext::sh -c x',
    'git+ssh://git@h/a',
    '/a/b',
    'a',
    '',
  ],
}

for (const [what, addresses] of Object.entries(ATTACKS)) {
  t.test(`${what} is refused in one sentence`, async (t) => {
    for (const address of addresses) {
      t.throws(
        () => parseRepositoryAddress(address),
        { name: 'Failure', reason: 'InvalidSpec' },
        JSON.stringify(address),
      )
    }
  })
}

t.test('the sentence never repeats a password, and says where it belongs', async (t) => {
  for (const address of ['ssh://git:hunter2@h/a', 'https://h/a?token=hunter2', 'https://user:hunter2@h/a']) {
    t.notMatch(
      sentenceOf(() => parseRepositoryAddress(address)),
      /hunter2/,
    )
  }
  t.match(
    sentenceOf(() => parseRepositoryAddress('https://user@h/a')),
    /before the host, which belong into the Secret of spec/,
  )
})

t.test('a written default port is refused with the plain form', async (t) => {
  t.throws(() => parseRepositoryAddress('https://h:443/a.git'), {
    message: /write https:\/\/h\/a\.git instead/,
  })
})

t.test('every address that is understood is its own re-serialisation for a browser too', async (t) => {
  const ofBrowsers = Object.keys(UNDERSTOOD).filter(
    (text) => text.startsWith('https:') && !text.includes('{'),
  )
  for (const text of ofBrowsers) t.equal(new URL(text).href, text)
})

t.test('host and port, and the parts of a path, are also read on their own', async (t) => {
  t.same(parseAuthority('h:8443'), { host: 'h', port: 8443 })
  t.same(parseAuthority('[::1]'), { host: '::1', port: undefined })
  t.equal(parseAuthority('H'), undefined)
  t.equal(parseAuthority('h:70000'), undefined)
  t.same(parseSegments('a/b.git'), ['a', 'b'])
  t.equal(parseSegments('a/..'), undefined)
})

t.test('an authority has IPv6 in brackets, and no default port', async (t) => {
  for (const [host, port, usual, written] of [
    ['h', undefined, undefined, 'h'],
    ['h', 8443, 443, 'h:8443'],
    ['h', 443, 443, 'h'],
    ['h', 443, undefined, 'h:443'],
    ['10.0.0.1', 22, 22, '10.0.0.1'],
    ['::1', undefined, undefined, '[::1]'],
    ['::1', 443, 443, '[::1]'],
    ['2001:db8::1', 8443, 443, '[2001:db8::1]:8443'],
  ] as const) {
    t.equal(writeAuthority({ host, port }, usual), written)
    t.equal(unbracketed(bracketed(host)), host)
  }
})

t.test('a name is a host if, and only if, the URL parser reads it as the same host', async (t) => {
  const label = fc.constantFrom(
    'a',
    'a-b',
    '1',
    '0x7f',
    '0',
    '1a',
    'xn--a',
    'xn--mnchen-3ya',
    'x1',
    '09',
    'com',
  )
  const names = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'))
  const property = fc.property(names, (name) => {
    const isHost = URL.parse(`https://${name}`)?.hostname === name
    return (parseAuthority(name)?.host === name) === isHost
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 500 }))
})
