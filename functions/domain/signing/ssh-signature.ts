import { createHash, type KeyObject } from 'node:crypto'
import { wireString } from '../network/ssh-wire.ts'
import { rawSignature } from './raw-signature.ts'
import { positive, sshKeyOf } from './ssh-public-key.ts'

/** OpenSSH's PROTOCOL.sshsig: the first bytes of a signature, and of what is signed. */
const MAGIC = 'SSHSIG'
const VERSION = Buffer.from([0, 0, 0, 1])
/** What Git asks ssh-keygen for (sign_buffer_ssh() of its gpg-interface.c). */
const NAMESPACE = 'git'
const HASH = 'sha512'
/** Characters of a line. */
const LINE = /.{70}(?=.)/g

/**
 * The armoured signature of these bytes in the format SSHSIG, for the namespace `git`, with a line feed at its end. It is
 * made and verified outside the event loop.
 * @throws Error if the key makes none that is right, such as one of RSA whose factors are no primes
 */
export async function sshSignature(privateKey: KeyObject, message: Buffer): Promise<string> {
  const { publicKey, algorithm, digest } = sshKeyOf(privateKey)
  const terms = [wireString(NAMESPACE), wireString(''), wireString(HASH)]
  const hash = createHash(HASH).update(message).digest()
  const signed = Buffer.concat([Buffer.from(MAGIC), ...terms, wireString(hash)])
  const raw = await rawSignature(signed, { privateKey, digest })
  const blob = privateKey.asymmetricKeyType === 'ec' ? twoNumbers(raw) : raw
  const signature = Buffer.concat([wireString(algorithm), wireString(blob)])
  const whole = [Buffer.from(MAGIC), VERSION, wireString(publicKey), ...terms, wireString(signature)]
  const lines = Buffer.concat(whole).toString('base64').replace(LINE, '$&\n')
  return `-----BEGIN SSH SIGNATURE-----\n${lines}\n-----END SSH SIGNATURE-----\n`
}

/** RFC 5656, section 3.1.2. */
function twoNumbers(raw: Buffer): Buffer {
  const half = raw.length / 2
  return Buffer.concat(
    [raw.subarray(0, half), raw.subarray(half)].map((number) => wireString(positive(number))),
  )
}
