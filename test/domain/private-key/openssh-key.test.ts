import { createPrivateKey } from 'node:crypto'
import t from 'tap'
import { writeEd25519 } from '../../../functions/domain/private-key/ed25519-key.ts'
import { readOpenSSH } from '../../../functions/domain/private-key/openssh-key.ts'
import { wireString } from '../../../functions/domain/network/ssh-wire.ts'
import { bytesIn } from '../../harness/der-writer.ts'
import { makeKey, rewriteKey } from '../../harness/ssh-keys.ts'

const TYPES = [
  ['ssh-ed25519', ['-t', 'ed25519']],
  ['ssh-rsa', ['-t', 'rsa', '-b', '2048']],
  ['ecdsa-sha2-nistp521', ['-t', 'ecdsa', '-b', '521']],
] as const
for (const [type, args] of TYPES) {
  t.test(`${type} is read, and a file that is cut anywhere or goes on is not`, async (t) => {
    const { privateKey } = makeKey(...args)
    const bytes = bytesIn(privateKey)
    const pem = type === 'ssh-ed25519' ? /BEGIN OPENSSH/ : rewriteKey(privateKey, '-m', 'PEM')
    t.match(readOpenSSH(bytes), { pem })
    for (const length of [0, 10, 40, 100, Math.floor(bytes.length / 2), bytes.length - 20]) {
      t.throws(() => readOpenSSH(bytes.subarray(0, length)))
    }
    t.throws(() => readOpenSSH(Buffer.concat([bytes, Buffer.alloc(8)])))
  })
}

t.test('an ed25519 key is written as ssh-keygen reads it', async (t) => {
  const seed = Buffer.alloc(32, 7)
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed])
  const { x = '' } = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' }).export({ format: 'jwk' })
  const written = writeEd25519(seed, Buffer.from(x, 'base64url'))
  t.match(readOpenSSH(bytesIn(written)), { pem: written, comment: '' })
  t.equal(bytesIn(rewriteKey(written)).length, bytesIn(written).length)
  for (const line of written.trim().split('\n')) t.ok(line.length <= 70)
})

t.test(
  'the type inside has to be the type outside, and the public half that of the private one',
  async (t) => {
    const { privateKey } = makeKey('-t', 'ed25519')
    const bytes = bytesIn(privateKey)
    const [type, other] = [wireString('ssh-ed25519'), wireString('ssh-ed25518')]
    const inside = bytes.lastIndexOf(type)
    t.throws(() => readOpenSSH(replaced(bytes, inside, other)))
    const half = inside + type.length + 4
    t.throws(() => readOpenSSH(replaced(bytes, half, Buffer.alloc(32))))
    t.throws(() => readOpenSSH(replaced(bytes, bytes.length - 1, Buffer.from([2]))), 'the padding is 1')
  },
)

function replaced(bytes: Buffer, at: number, by: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), by, bytes.subarray(at + by.length)])
}
