import t from 'tap'
import { asFailure, Failure } from '../../../functions/domain/failure.ts'
import { secretSigner } from '../../../functions/domain/signing/signing-secret.ts'
import { huge, makeRSA, nested, rsaFiles } from '../../harness/key-files.ts'
import { pem } from '../../harness/der-writer.ts'
import { keyFile, rsaHalves, secretKey } from '../../harness/openpgp-writer.ts'
import { makeKey } from '../../harness/ssh-keys.ts'

const GOOD = makeKey('-t', 'ed25519').privateKey

function open(
  data: Readonly<Record<string, string>>,
  more: { readonly type?: string; readonly key?: string; readonly format?: 'openpgp' } = {},
) {
  const { type = 'Opaque', key, format } = more
  const values = new Map(Object.entries(data).map(([name, value]) => [name, Buffer.from(value)]))
  const secret = { namespace: 'shop', name: 'signing', annotations: {}, type, data: values }
  const signing = {
    secretName: 'signing',
    ...(key === undefined ? {} : { privateKeyKey: key }),
    ...(format === undefined ? {} : { format }),
  }
  try {
    return secretSigner(signing, secret, 'robot@example.com')
  } catch (error) {
    return asFailure(error)
  }
}

t.test('the key is the usual one, or the one that is named', async (t) => {
  t.notOk(open({ 'ssh-privatekey': GOOD }) instanceof Failure)
  t.notOk(open({ mine: GOOD }, { key: 'mine' }) instanceof Failure)
})

const RSA = makeRSA(2048)
const OPENPGP = keyFile(secretKey(rsaHalves(RSA)))

t.test('with openpgp it is a key of that format', async (t) => {
  t.notOk(open({ mine: OPENPGP }, { key: 'mine', format: 'openpgp' }) instanceof Failure)
})

const BOMBS = [huge(40_000), huge(8_193)].flatMap((n) => rsaFiles({ ...RSA, n }).map(([, text]) => text))

for (const [title, data, more, says] of [
  [
    'no such key',
    { other: GOOD },
    {},
    /^The Secret shop\/signing has no key "ssh-privatekey".*spec\.signing/,
  ],
  [
    'another type',
    { 'ssh-privatekey': GOOD },
    { type: 'kubernetes.io/tls' },
    /of type "kubernetes\.io\/tls"/,
  ],
  [
    'a passphrase',
    { 'ssh-privatekey': makeKey('-t', 'ed25519', '-N', 'secret').privateKey },
    {},
    /with a passphrase/,
  ],
  ['a public key', { 'ssh-privatekey': makeKey('-t', 'ed25519').publicKey }, {}, /holds a public key/],
  ['an OpenPGP key', { 'ssh-privatekey': OPENPGP }, {}, /OpenPGP key.*set spec\.signing\.format to openpgp/],
  ['an SSH key', { mine: GOOD }, { key: 'mine', format: 'openpgp' }, /named by privateKeyKey.*format to ssh/],
  ['a long text', { 'ssh-privatekey': 'x'.repeat(1_000_000) }, {}, /more than 16384 bytes/],
  ['nested elements', { 'ssh-privatekey': pem('PRIVATE KEY', nested(2_000)) }, {}, /cut off or damaged/],
  ...BOMBS.map(
    (text, i) => [`bomb ${i}`, { 'ssh-privatekey': text }, {}, /bits|more than 16384 bytes/] as const,
  ),
] as const)
  t.test(`${title}: one sentence, at once`, async (t) => {
    open(data, more)
    const times = Array.from({ length: 5 }, () => {
      const began = performance.now()
      open(data, more)
      return performance.now() - began
    })
    t.ok(Math.min(...times) < 5, `${Math.min(...times)} ms`)
    const failure = open(data, more)
    t.match(failure, { reason: 'CredentialsInvalid', message: says })
    t.notMatch(JSON.stringify(failure), /BEGIN/)
  })
