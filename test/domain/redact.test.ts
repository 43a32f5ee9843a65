import t from 'tap'
import { holdsSecret, redactedName, redact, unitedSecrets } from '../../functions/domain/redact.ts'
import { secretsOf } from '../../functions/domain/credentials/login.ts'
import { cpuTime } from '../harness/cpu-time.ts'
import { allowedMs } from '../harness/growth.ts'

const SECRET = 'p!ä s/+=t'
const login = {
  method: 'password',
  identity: 'x',
  username: 'dev',
  password: SECRET,
  secrets: [SECRET, ''],
} as const

const spellings = [
  ['raw', SECRET],
  ['base64', Buffer.from(SECRET).toString('base64')],
  ['base64 without padding', Buffer.from(SECRET).toString('base64').replace(/=+$/, '')],
  ['base64url', Buffer.from(SECRET).toString('base64url')],
  ['URL-encoded', encodeURIComponent(SECRET)],
  ['URL-encoded in lower case', 'p!%c3%a4%20s%2f%2b%3dt'],
  ['URL-encoded strictly', 'p%21%C3%A4%20s%2F%2B%3Dt'],
  ['encoded as a form', 'p%21%C3%A4+s%2F%2B%3Dt'],
  ['the Basic pair', Buffer.from(`dev:${SECRET}`).toString('base64')],
  ['broken by an escape sequence', 'p!ä\u001b[31m s/+=t'],
] as const
for (const [name, spelling] of spellings) {
  t.test(`a secret is masked: ${name}`, async (t) => {
    t.equal(redact(`you sent ${spelling} twice: ${spelling}`, secretsOf(login)), 'you sent *** twice: ***')
  })
}

t.test('a JSON Web Token is masked, whoever has made it', async (t) => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const made = `${part({ alg: 'RS256', typ: 'JWT' })}.${part({ iss: '4711', exp: 1 })}`
  for (const token of [`${made}.${'Sig-n_d'.repeat(50)}`, `${made}.`, made])
    t.equal(redact(`Bearer ${token}, (${token})`, []), 'Bearer ***, (***)')
  t.equal(redact('the file eyJpbWFnZQ.eyJ and eyJhbGciOiJ', []), 'the file eyJpbWFnZQ.eyJ and eyJhbGciOiJ')
  const before = cpuTime()
  redact(`${'eyJhbGciOiJ'.repeat(1_000)}.${'eyJhbGciOiJ.'.repeat(300)}`, [])
  const spent = cpuTime() - before
  t.ok(spent < allowedMs(5), `${spent} ms`)
})

t.test('a secret with something between its characters is masked', async (t) => {
  const token = 'ghp_AbCdEf123456'
  for (const between of [
    ' ',
    '\n',
    '\u0000',
    '\u200b',
    '\u2028',
    '\u00ad',
    '\u034f',
    '\ufe0f',
    '\u3164',
    '\t \t',
    '\u001b[0m ',
  ])
    for (const spelling of [token, Buffer.from(token).toString('base64url')]) {
      const spaced = Array.from(spelling).join(between)
      t.equal(redact(`you sent ${spaced} twice: ${spaced}!`, [token]), 'you sent *** twice: ***!')
      const once = `${spelling.slice(0, 7)}${between}${spelling.slice(7)}`
      t.equal(redact(`(${once})`, [token]), '(***)')
    }
  t.equal(redact('we ak words stay', ['weak']), 'we ak words stay')
  t.equal(redact('a secret value of words', ['secret value']), 'a *** of words')
})

t.test('two that follow each other are one mask, and what is between others stays', async (t) => {
  t.equal(redact('12345678 12345678, 1234 5678', ['12345678']), '*** ***, ***')
})

t.test('the longest spelling goes first, so that nothing of a secret is left', async (t) => {
  t.equal(redact('abcdef abc', ['abc', 'abcdef']), '*** ***')
})

t.test('special characters of a regular expression are taken literally', async (t) => {
  t.equal(redact('axb a.b (', ['a.b', '(']), 'axb *** ***')
})

t.test('control characters and escape sequences are gone, lines are joined', async (t) => {
  t.equal(
    redact('\u001b[1;31mred\u001b[0m \u001b]0;title\u0007a\r\nb\u0000c\u202ed\u001b', []),
    'red a b c d',
  )
})

t.test('at most 200 characters are quoted, none of them cut', async (t) => {
  t.equal(redact('😀'.repeat(200), []), '😀'.repeat(200))
  t.equal(redact('😀'.repeat(201), []), `${'😀'.repeat(199)}…`)
})

t.test('a value as JSON has it, and long values, are masked', async (t) => {
  t.equal(redact('said {"password":"a\\"b\\\\c"}', ['a"b\\c']), 'said {"password":"***"}')
  const many = Array.from({ length: 8 }, (_, i) => `${i}-`.padEnd(8_000, 'x'))
  t.equal(redact(`so ${many[7]} it is`, many), 'so *** it is')
})

t.test(
  'a secret at which the text is cut is not shown, however much the masks have shortened the rest',
  async (t) => {
    const token = Array.from({ length: 3_000 }, (_, i) => String.fromCharCode(97 + (i % 26))).join('')
    for (const length of [1_000, 1_500, 3_000]) {
      const secret = token.slice(0, length)
      for (const separator of ['', ' ', 'x'.repeat(7)]) {
        t.notMatch(redact(`${secret}${separator}`.repeat(100), [secret]), 'abcd')
      }
    }
    const long = `no room for ${token} on this device${' (really)'.repeat(10_000)}`
    t.match(redact(long, [token]), /^no room for \*\*\* on this device/)
  },
)

t.test('a remote that got more secrets than can be masked in time is not quoted', async (t) => {
  const lines = Array.from({ length: 60_800 }, (_, i) => `secret/line+${i}`)
  const start = cpuTime()
  t.equal(redact('no', lines), undefined)
  t.ok(cpuTime() - start < allowedMs(50))
  t.equal(redact('no', ['x'.repeat(65_537)]), undefined)
  t.equal(redact('no', ['x'.repeat(65_536), 'x'.repeat(65_536), '']), 'no')
})

t.test('of a secret at the end of what is read, no part is shown', async (t) => {
  const secret = 'Zq7/Token+x'
  for (let read = 0; read <= secret.length; read += 1) {
    const text = `no ${'\u0001'.repeat(65_536 - 3 - read)}${secret} more`
    t.notMatch(redact(text, [secret]), /Z/, `${read} characters of it`)
  }
})

t.test('as many secrets as are masked are masked in time', async (t) => {
  const lines = Array.from({ length: 1_024 }, (_, i) => `é/${i}`.padEnd(60, '+'))
  const start = cpuTime()
  t.equal(redact(`${lines[1_023]}${' no'.repeat(20_000)}`, lines)?.slice(0, 9), '*** no no')
  t.ok(cpuTime() - start < allowedMs(500))
})

t.test(
  'secrets of several logins are merged once, up to the number above which nothing is quoted',
  async (t) => {
    t.strictSame(unitedSecrets([['a', 'b'], ['b', 'c'], []]), ['a', 'b', 'c'])
    const many = Array.from({ length: 2_000 }, (_, i) => `secret-${i}`)
    t.strictSame(unitedSecrets([many, ['more']]), many)
    t.equal(redact('no', many), undefined)
    t.strictSame(unitedSecrets([['x'.repeat(65_537)], ['more']]), ['x'.repeat(65_537)])
  },
)

const FOUND = [
  ['raw', 'https://git.example.com/7?t=Zq7/Token+x'],
  ['in a host name', 'https://zq7token9.example.com/7'],
  ['percent-encoded', 'https://git.example.com/7?t=Zq7%2FToken%2Bx'],
  ['percent-encoded here and there', 'https://git.example.com/%5aq7Token9%zz'],
  ['base64', `https://git.example.com/${Buffer.from('Zq7Token9').toString('base64')}`],
] as const
for (const [name, address] of FOUND) {
  t.test(`a secret in an address is found: ${name}`, async (t) => {
    t.equal(holdsSecret(address, ['Zq7/Token+x', 'Zq7Token9']), true)
    t.equal(holdsSecret(address, ['Zq7/Token+y', 'Zq7Token8']), false)
  })
}

t.test('a secret shorter than 8 characters may occur in a valid address', async (t) => {
  t.equal(holdsSecret('https://git.example.com/acme/shop/7', ['acme', 'shop/7', '']), false)
  t.equal(holdsSecret('https://git.example.com/acme/shop/7', ['acme/shop']), true)
})

t.test('a name of the spec is quoted, without what would show a secret or control a terminal', async (t) => {
  t.equal(redactedName('settings', ['s3cr3t']), '"settings"')
  t.equal(redactedName('a\u202eb s3cr3t', ['s3cr3t']), '"a b ***"')
  t.equal(redactedName('settings', ['x'.repeat(70_000)]), '"***"')
})
