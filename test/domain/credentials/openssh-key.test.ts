import { generateKeyPairSync, sign, verify } from 'node:crypto'
import t from 'tap'
import { openOpenSSH, writeEd25519 } from '../../../functions/domain/credentials/openssh-key.ts'
import { readWire, wireString } from '../../../functions/domain/network/ssh-wire.ts'
import { makeKey } from '../../harness/ssh-keys.ts'

function bytesOf(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----[A-Z ]+-----/g, ''), 'base64')
}

const TYPES = [
  [['-t', 'ed25519'], 'ssh-ed25519', null],
  [['-t', 'rsa', '-b', '2048'], 'ssh-rsa', 'sha256'],
  [['-t', 'ecdsa', '-b', '521'], 'ecdsa-sha2-nistp521', 'sha256'],
] as const
for (const [args, type, hash] of TYPES) {
  t.test(`both halves of ${type} are read, and a file that is cut anywhere is not`, async (t) => {
    const bytes = bytesOf(makeKey(...args).privateKey)
    const file = openOpenSSH(bytes)
    t.match(file, { type, cipher: 'none' })
    const { privateKey, publicKey } = file.read()
    t.ok(verify(hash, Buffer.from('data'), publicKey, sign(hash, Buffer.from('data'), privateKey)))
    for (const length of [0, 10, 40, 100, Math.floor(bytes.length / 2), bytes.length - 20]) {
      t.throws(() => openOpenSSH(bytes.subarray(0, length)).read())
    }
  })
}

t.test('an ed25519 key is written as ssh-keygen reads it', async (t) => {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const written = writeEd25519(Buffer.from(d, 'base64url'), Buffer.from(x, 'base64url'))
  t.same(openOpenSSH(bytesOf(written)).read().privateKey.export({ format: 'jwk' }).d, d)
  for (const line of written.trim().split('\n')) t.ok(line.length <= 70)
})

t.test('strings of the wire format are read as they were written, and not beyond their end', async (t) => {
  const wire = readWire(Buffer.concat([wireString('a'), wireString(''), Buffer.from([0, 0, 1, 0])]))
  t.same([wire.text(), wire.string().length, wire.number()], ['a', 0, 256])
  t.throws(() => wire.number())
  t.throws(() => readWire(Buffer.from([0, 0, 0, 2, 1])).string())
})
