import t from 'tap'
import type { SecretData } from '../../../functions/domain/credentials/secret-keys.ts'
import { lineIn, textIn, valuesOf } from '../../../functions/domain/credentials/secret-values.ts'
import { redact } from '../../../functions/domain/redact.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'

function secret(data: Readonly<Record<string, string | Uint8Array>>): SecretData {
  const entries = Object.entries(data).map(([key, value]) => [key, Buffer.from(value)] as const)
  return { namespace: 'shop', name: 'git', type: 'Opaque', annotations: {}, data: new Map(entries) }
}

t.test('a line is trimmed, a text stays as it is', async (t) => {
  t.equal(lineIn(secret({ k: ' tok en\r\n' }), 'k', 'tokenKey'), 'tok en')
  t.equal(lineIn(secret({ k: 'x'.repeat(8_192) }), 'k', 'tokenKey').length, 8_192)
  t.equal(textIn(secret({ k: ' one\r\ntwo' }), 'k', 'tokenKey'), ' one\r\ntwo')
  t.equal(textIn(secret({ k: 'x'.repeat(65_536) }), 'k', 'tokenKey').length, 65_536)
})

const BYTES = new Uint8Array([0xff, 0xfe])

for (const [title, read, value, complaint] of [
  [
    'a line that is missing',
    lineIn,
    undefined,
    'has no key named by tokenKey; add it, or name another in spec.credentials.',
  ],
  ['a line of blanks', lineIn, ' \n', 'has nothing in its key named by tokenKey; put the value there.'],
  [
    'two lines for one',
    lineIn,
    's3cret\ns3cret',
    'has something other than one line of text in its key named by tokenKey; put only the value there.',
  ],
  [
    'a line that is not text',
    lineIn,
    BYTES,
    'has something other than text in its key named by tokenKey; put only the value there.',
  ],
  [
    'a line that is too long',
    lineIn,
    'x'.repeat(8_193),
    'has more than 8192 bytes in its key named by tokenKey; put only the value there.',
  ],
  [
    'a text that is missing',
    textIn,
    undefined,
    'has no key named by tokenKey; add it, or name another in spec.credentials.',
  ],
  ['a text of blanks', textIn, '\n\n', 'has nothing in its key named by tokenKey; put the value there.'],
  [
    'a text that is not text',
    textIn,
    BYTES,
    'has something other than text in its key named by tokenKey; put only the value there.',
  ],
  [
    'a text that is too long',
    textIn,
    'x'.repeat(65_537),
    'has more than 65536 bytes in its key named by tokenKey; put only the value there.',
  ],
] as const) {
  t.test(`${title} is CredentialsInvalid, without the value`, async (t) => {
    const found = secret(value === undefined ? {} : { k: value })
    t.throws(() => read(found, 'k', 'tokenKey'), {
      reason: 'CredentialsInvalid',
      message: `The Secret shop/git ${complaint}`,
    })
  })
}

t.test('what is masked: values, and each line of those with several lines', async (t) => {
  const line = 'b3BlbnNzaC1rZXktdjEAAAAABG5vbmU='
  const key = `-----BEGIN OPENSSH PRIVATE KEY-----\r\n  ${line}\r\nshort\r\n-----END OPENSSH PRIVATE KEY-----\n`
  const values = { token: ' tkn4711 \n', bare: 'tkn4712', tiny: ' abc \n' }
  const found = secret({ ...values, key, bytes: BYTES, huge: 'x'.repeat(65_537) })
  t.strictSame(valuesOf(found), [
    ' tkn4711 \n',
    'tkn4711',
    'tkn4712',
    key,
    key.trim(),
    '-----BEGIN OPENSSH PRIVATE KEY-----',
    line,
    '-----END OPENSSH PRIVATE KEY-----',
  ])
})

t.test('a Secret as large as one may be, of blanks between two signs, is read at once', async (t) => {
  const blanks = (key: number): string => `${key}${' '.repeat(65_000)}x`
  const values = Object.fromEntries(Array.from({ length: 16 }, (_, key) => [`k${key}`, blanks(key)]))
  const start = cpuTime()
  t.equal(redact('no', valuesOf(secret(values))), undefined, 'more than are masked')
  t.ok(cpuTime() - start < allowedMs(200))
})

t.test('of a Secret with more values than are masked only some are read, at once', async (t) => {
  const values = Object.fromEntries(Array.from({ length: 100_000 }, (_, key) => [`k${key}`, `value-${key}`]))
  const start = cpuTime()
  const found = valuesOf(secret(values))
  t.ok(cpuTime() - start < allowedMs(50))
  t.equal(redact('no', found), undefined)
})

t.test(
  'of a value of more lines than are masked only some are kept, and no line is left out for equal ones',
  async (t) => {
    const line = (i: number): string => `${i}`.padStart(16, 'x')
    const found = valuesOf(secret({ many: Array.from({ length: 3_500 }, (_, i) => line(i)).join('\n') }))
    t.ok(found.length <= 1_026, `${found.length}`)
    t.equal(redact('no', found), undefined, 'nothing is shown')
    const equal = valuesOf(secret({ many: `${`${line(0)}\n`.repeat(3_000)}${line(1)}` }))
    t.ok(equal.includes(line(1)))
  },
)
