import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { commandFor, readRequest } from '../../../functions/git/ssh/request.ts'

const EXPECTED = { service: 'git-upload-pack', path: '/4711' } as const

function packet(text: string): Buffer {
  return Buffer.from(`${(text.length + 4).toString(16).padStart(4, '0')}${text}`)
}

const ASKED = packet('git-upload-pack /4711\0host=127.0.0.1:4000\0\0version=2\0')
const REQUESTS: readonly (readonly [string, Buffer, unknown])[] = [
  ['a request', ASKED, { length: ASKED.length, protocol: 'version=2' }],
  ['a request of protocol 0', packet('git-upload-pack /4711\0host=h\0'), { protocol: undefined }],
  ['what follows the request', Buffer.concat([ASKED, Buffer.from('0014')]), { length: ASKED.length }],
  [
    'other parameters',
    packet('git-upload-pack /4711\0host=h\0\0x=1\0version=1\0'),
    { protocol: 'version=1' },
  ],
  [
    'a version that is no number',
    packet('git-upload-pack /4711\0host=h\0\0version=2;x\0'),
    { protocol: undefined },
  ],
  ['nothing yet', Buffer.alloc(0), 'incomplete'],
  ['half a length', ASKED.subarray(0, 3), 'incomplete'],
  ['half a request', ASKED.subarray(0, 20), 'incomplete'],
  ['another path', packet('git-upload-pack /4712\0host=h\0'), undefined],
  ['a longer path', packet('git-upload-pack /47111\0host=h\0'), undefined],
  ['another service', packet('git-receive-pack /4711\0host=h\0'), undefined],
  ['no Git', Buffer.from('GET / HTTP/1.1\r\n'), undefined],
  ['a packet that is too long', Buffer.from('ffff'), undefined],
  ['a packet that is too short', Buffer.from('0003'), undefined],
]
for (const [form, bytes, expected] of REQUESTS) {
  t.test(`${form} is ${expected === undefined ? 'not served' : 'understood'}`, async (t) => {
    t.match(readRequest(bytes, EXPECTED), expected)
    if (expected === undefined) t.equal(readRequest(bytes, EXPECTED), undefined)
  })
}

const COMMANDS = [
  ['git@git.example.com:acme/shop.git', "git-upload-pack 'acme/shop.git'"],
  ['git@git.example.com:acme/shop', "git-upload-pack 'acme/shop'"],
  ['ssh://git@git.example.com/acme/shop.git', "git-upload-pack '/acme/shop.git'"],
  ['ssh://git@git.example.com:2222/acme/shop', "git-upload-pack '/acme/shop'"],
  ['ssh://git@git.example.com/~acme/shop.git', "git-upload-pack '~acme/shop.git'"],
  ['git@git.example.com:~acme/shop.git', "git-upload-pack '~acme/shop.git'"],
] as const
t.test('the path is the one that git itself would send', async (t) => {
  for (const [url, command] of COMMANDS)
    t.equal(commandFor('git-upload-pack', parseRepositoryAddress(url)), command)
})
