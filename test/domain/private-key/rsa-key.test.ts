import t from 'tap'
import { readPrivateKey } from '../../../functions/domain/private-key/private-key.ts'
import { huge, makeRSA, rsaFiles, type RSANumbers } from '../../harness/key-files.ts'
import { BROKEN, rejects } from './rejects.ts'

const GOOD = makeRSA(2048)

const ROWS: readonly (readonly [title: string, change: Partial<RSANumbers>, says: RegExp])[] = [
  ['a modulus of 40,000 bits', { n: huge(40_000) }, /of 40000 bits/],
  ['a modulus of 8,193 bits', { n: huge(8193) }, /of 8193 bits/],
  ['a modulus of zero', { n: 0n }, /of 0 bits/],
  ['a modulus of one', { n: 1n }, /of 1 bits/],
  ['an even modulus', { n: GOOD.n - 1n }, BROKEN],
  ['an exponent of 65 bits', { e: huge(65) }, /more than 64 bits/],
  ['an exponent of 40,000 bits', { e: huge(40_000) }, /more than 64 bits/],
  ['an exponent of zero', { e: 0n }, BROKEN],
  ['an exponent of one', { e: 1n, d: 1n }, BROKEN],
  ['an even exponent', { e: 65_536n }, BROKEN],
  ['a private exponent of 40,000 bits', { d: huge(40_000) }, BROKEN],
  ['a private exponent above the modulus', { d: GOOD.n + 2n }, BROKEN],
  ['a private exponent of zero', { d: 0n }, BROKEN],
  ['another private exponent', { d: GOOD.d + 2n }, BROKEN],
  ['primes of 40,000 bits', { p: huge(40_000), q: huge(40_000) }, BROKEN],
  ['primes as large as the modulus', { p: huge(2048), q: huge(2048) }, /not of the same size/],
  ['a prime of one', { p: GOOD.n, q: 1n }, /not of the same size/],
  ['a prime of zero', { p: 0n }, BROKEN],
  ['a prime of one that is too small', { p: 1n }, BROKEN],
  ['a prime of two', { p: 2n }, BROKEN],
  ['primes of another modulus', { p: GOOD.p + 2n }, BROKEN],
  ['primes in the other order', { p: GOOD.q, q: GOOD.p }, BROKEN],
  ['a coefficient of zero', { qi: 0n }, BROKEN],
  ['a coefficient of 40,000 bits', { qi: huge(40_000) }, BROKEN],
]
const EXPONENTS: readonly (readonly [title: string, change: Partial<RSANumbers>, says: RegExp])[] = [
  ['a first exponent that is wrong', { dp: GOOD.dp + 2n }, BROKEN],
  ['a second exponent of 40,000 bits', { dq: huge(40_000) }, BROKEN],
]

for (const [title, change, says] of ROWS) {
  for (const [form, text] of rsaFiles({ ...GOOD, ...change })) rejects(`${title}, as ${form}`, text, says)
}
for (const [title, change, says] of EXPONENTS) {
  for (const [form, text] of rsaFiles({ ...GOOD, ...change }).slice(0, 2))
    rejects(`${title}, as ${form}`, text, says)
}

t.test('the same integers without a change are a key in each format, and one key', async (t) => {
  const read = rsaFiles(GOOD).map(([, text]) =>
    readPrivateKey(Buffer.from(text), { secret: 'a/b', key: 'c' }),
  )
  t.equal(new Set(read).size, 1)
})
