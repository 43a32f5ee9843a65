import t from 'tap'
import { holdsSecret, redact } from '../../functions/domain/redact.ts'
import { cpuTime } from '../harness/cpu-time.ts'
import fc from '../harness/fast-check.ts'
import { allowedMs } from '../harness/growth.ts'

/** What one text may take, with the most secrets, in milliseconds: each is masked in a turn of the event loop. */
const PROMISED_MS = 3
const SIZE = 65_536

function distinct(count: number, length: number): string[] {
  return Array.from({ length: count }, (_, at) => String(at).padStart(length, 'x'))
}

/** A text of a host, and a Secret. Both are a stranger's. */
const CHOSEN: Readonly<Record<string, readonly [unit: string, secrets: () => string[]]>> = {
  'values that begin alike, and nearly occur': [`${'x'.repeat(57)}y`, () => distinct(990, 60)],
  'the beginning of values': ['x', () => distinct(1_024, 60)],
  'values that nearly occur, encoded twice': [`${'%2578'.repeat(57)}y`, () => distinct(1_024, 60)],
  'values that nearly occur, as entities in entities': ['&amp;#x78;', () => distinct(1_024, 60)],
  'a value again and again, and others that begin like it': ['x', () => ['xxxxxxxx', ...distinct(1_000, 60)]],
  'a value again and again, encoded': ['%255aq7/Token+x', () => ['Zq7/Token+x', ...distinct(1_000, 60)]],
  'values of all lengths': ['x', () => Array.from({ length: 330 }, (_, at) => `${'x'.repeat(at + 9)}y`)],
  'short values that begin alike': [
    'xaaa',
    () => Array.from({ length: 1_024 }, (_, at) => `xaaa${at.toString(36).padStart(3, '0')}`),
  ],
  'values with signs and blanks': ['é"x', () => distinct(1_000, 50).map((text) => `é" \\${text} b`)],
  'one long value': ['x%', () => ['%é'.repeat(20_000)]],
}

for (const [name, [unit, secretsOf]] of Object.entries(CHOSEN)) {
  t.test(
    `${name}: a text of a host takes little, whatever it is and whatever the Secret holds`,
    async (t) => {
      const text = unit.repeat(SIZE / unit.length)
      for (const [what, work] of [
        ['redact', (): unknown => redact(text, secretsOf())],
        ['holdsSecret', (): unknown => holdsSecret(text.slice(0, 8_192), secretsOf())],
      ] as const) {
        let spent = Infinity
        for (let run = 0; run < 3; run += 1) {
          const before = cpuTime()
          work()
          spent = Math.min(spent, cpuTime() - before)
        }
        t.ok(spent < allowedMs(PROMISED_MS), `${what}: ${spent} ms`)
      }
    },
  )
}

t.test(
  'a text in which too many secrets nearly occur is not shown, and no address with them is',
  async (t) => {
    const text = `${'x'.repeat(57)}y`.repeat(300)
    t.equal(redact(text, distinct(990, 60)), undefined)
    t.equal(holdsSecret(text, distinct(990, 60)), true)
    t.match(redact(text, ['Zq7/Token+x']), /^x+yx/)
  },
)

t.test('a usual text is shown, however many lines of a Secret begin alike', async (t) => {
  const secrets = Array.from({ length: 700 }, (_, at) => `export SERVICE_${at}=https://host/${at}`)
  const words = 'export SERVICE_ONE: see https://host/one, '.repeat(2)
  t.equal(redact(`${words}${secrets[77]} ok`, secrets), `${words}*** ok`)
})

const ENCODERS: readonly ((sign: string) => string)[] = [
  (sign) => sign,
  (sign) => Buffer.from(sign).toString('hex').replace(/../g, '%$&'),
  (sign) => `&#x${sign.codePointAt(0)?.toString(16).padStart(6, '0')};`,
  (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`,
  (sign) => `%26%23${sign.codePointAt(0)}%3b`,
  (sign) => `\\u0026\\u0023${sign.codePointAt(0)}\\u003b`,
  (sign) => `\u001b[00000000000000000000000000000000000000000000m${sign}`,
  (sign) => ` ${sign}`,
]

/** In none of the encodings, so that any of them in what is shown is of the secret. */
const LETTERS = Array.from('GHIJKLMOPQRSTUVWXYZghijklmopqrstvwyz')

t.test('wherever the part of a text that is read ends, of a secret there nothing is shown', async (t) => {
  const secret = fc.string({
    unit: fc.constantFrom(...LETTERS),
    minLength: 4,
    maxLength: 120,
    size: 'max',
  })
  const ways = fc.array(fc.nat({ max: ENCODERS.length - 1 }), { minLength: 120, maxLength: 120 })
  fc.assert(
    fc.property(
      secret,
      ways,
      fc.constantFrom(3_072, 10_240),
      fc.nat({ max: 2_000 }),
      (value, of, end, back) => {
        // Shorter ones are found without blanks alone.
        const encoders = ENCODERS.slice(0, value.length < 8 ? -1 : undefined)
        const encoded = Array.from(value, (sign, at) =>
          encoders[(of[at] ?? 0) % encoders.length]?.(sign),
        ).join('')
        // What comes before is shown as a few characters, so that what follows it would be.
        const filled = '\u0001'.repeat(Math.max(0, end - back - 2))
        const shown = redact(`: ${filled}${encoded}${' .'.repeat(8_000)}`, [value]) ?? ''
        return !/[A-Z]|[g-z]/.test(shown) && !/[%&\\]/.test(shown)
      },
    ),
    { numRuns: 300 },
  )
  t.pass()
})

t.test('a JSON Web Token that goes on after what is read is masked', async (t) => {
  const header = `eyJ${'hbGciOiJ'.repeat(2_000)}`
  t.equal(redact(`Bearer ${header}.${header}.${'Sig'.repeat(100)}`, []), 'Bearer ***')
})
