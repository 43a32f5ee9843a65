import { wireString } from '../../functions/domain/network/ssh-wire.ts'

/** One element of DER with this tag, whose content is the parts one after the other. */
export function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...head]), content])
}

/** A SEQUENCE of these elements. */
export function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts)
}

/** A non-negative INTEGER. */
export function integer(value: bigint): Buffer {
  return der(0x02, signedBytes(value))
}

/** An OBJECT IDENTIFIER whose bytes are these hexadecimal digits. */
export function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'))
}

/** A PKCS#8 key of this algorithm, with these parameters and this private key. */
export function pkcs8(algorithm: string, parameters: Buffer, key: Buffer): Buffer {
  return sequence(integer(0n), sequence(oid(algorithm), parameters), der(0x04, key))
}

/** The text of a PEM file with this label. */
export function pem(label: string, bytes: Buffer): string {
  const lines = bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n')
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`
}

/** The bytes between the first and the last line of a PEM file. */
export function bytesIn(text: string): Buffer {
  return Buffer.from(text.replace(/-----[A-Z ]+-----/g, ''), 'base64')
}

/** An unencrypted file of OpenSSH with a key of this type and these fields. */
export function opensshKey(type: string, fields: readonly (Buffer | string)[]): string {
  const none = wireString('none')
  const inside = Buffer.concat([Buffer.alloc(8), wireString(type), ...fields.map(wireString), wireString('')])
  const padding = Buffer.from(Array.from({ length: -inside.length & 7 }, (_, i) => i + 1))
  const head = Buffer.concat([none, none, wireString(''), Buffer.from([0, 0, 0, 1])])
  const body = Buffer.concat([
    Buffer.from('openssh-key-v1\0'),
    head,
    ...[wireString(wireString(type)), wireString(Buffer.concat([inside, padding]))],
  ])
  return pem('OPENSSH PRIVATE KEY', body)
}

/** The bytes of a non-negative number as DER and OpenSSH write it: the first bit is not set. */
export function signedBytes(value: bigint): Buffer {
  const hex = value.toString(16)
  const even = hex.padStart(hex.length + (hex.length % 2), '0')
  return Buffer.from(/^[89a-f]/.test(even) ? `00${even}` : even, 'hex')
}
