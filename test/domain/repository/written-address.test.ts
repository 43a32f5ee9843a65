import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { meantAddress, readWrittenAddress } from '../../../functions/domain/repository/written-address.ts'

const MEANT: Readonly<Record<string, string>> = {
  ' https://git.example.com/acme/shop\n': 'https://git.example.com/acme/shop',
  'HTTPS://Git.Example.COM./acme/shop.git': 'https://git.example.com/acme/shop.git',
  'https://git.example.com//acme/./shop//': 'https://git.example.com/acme/shop',
  'https://git.example.com:8443/acme/shop/': 'https://git.example.com:8443/acme/shop',
  'https://git.example.com:443/acme/shop': 'https://git.example.com/acme/shop',
  'http://git.example.com:80/acme/shop': 'http://git.example.com/acme/shop',
  'https://git.example.com/acme/shop#readme': 'https://git.example.com/acme/shop',
  'https://git.example.com/acme/shop/tree/main/': 'https://git.example.com/acme/shop',
  'https://github.com/acme/shop/pull/7?diff=split': 'https://github.com/acme/shop',
  'https://dev:hunter2@git.example.com/acme/shop': 'https://git.example.com/acme/shop',
  'https://dev:hun@ter2@git.example.com/acme/shop': 'https://git.example.com/acme/shop',
  'git+ssh://git@git.example.com/acme/shop': 'ssh://git@git.example.com/acme/shop',
  'ssh://git@git.example.com:22/acme/shop': 'ssh://git@git.example.com/acme/shop',
  'ssh://git@git.example.com:2222/acme/shop/': 'ssh://git@git.example.com:2222/acme/shop',
  'ssh://git.example.com:acme/shop.git': 'git@git.example.com:acme/shop.git',
  'git@git.example.com:/srv/shop.git': 'ssh://git@git.example.com/srv/shop.git',
  'git@Git.example.com:acme/shop.git': 'git@git.example.com:acme/shop.git',
  'git.example.com:acme/shop.git': 'git@git.example.com:acme/shop.git',
  'git.example.com/acme/shop': 'https://git.example.com/acme/shop',
}

const NO_ADDRESS = [
  '',
  'shop',
  '/srv/shop.git',
  'acme/shop',
  'file:///srv/shop.git',
  'https://git.example.com',
  'https://git.example.com/acme/../shop',
  'https://dev:hunter2/acme/shop',
  'https://dev:hun/ter2@git.example.com/acme',
  'ssh://git:hunter2@git.example.com/acme/shop',
  'dev.ops:hunter2',
  'https://dev.azure.com/acme/my%20shop/_git/config',
  `https://git.example.com/${'a'.repeat(2_048)}/`,
]

t.test('what was probably meant', async (t) => {
  for (const [written, meant] of Object.entries(MEANT)) t.equal(meantAddress(written), meant, written)
})

t.test('nothing is guessed', async (t) => {
  for (const written of NO_ADDRESS) t.equal(meantAddress(written), undefined, written)
})

t.test('a valid address is read as it is', async (t) => {
  t.match(readWrittenAddress('https://git.example.com/acme/shop'), { host: 'git.example.com' })
})

t.test('the message says what is wrong, and what was probably meant', async (t) => {
  const messageOf = (text: string): string => {
    try {
      readWrittenAddress(text)
    } catch (error) {
      if (error instanceof Failure) return `${error.reason} ${error.message}`
    }
    throw new Error('nothing was thrown')
  }
  t.equal(
    messageOf('ssh://git.example.com/acme/shop'),
    'InvalidSpec spec.repository does not name the SSH user, and nothing else, before the host; write ssh://git@git.example.com/acme/shop instead.',
  )
  t.match(messageOf('shop'), /; write an address such as /)
  for (const written of [...Object.keys(MEANT), ...NO_ADDRESS].filter((text) => /hun/.test(text)))
    t.notMatch(messageOf(written), /hun/, 'no password is repeated')
})
