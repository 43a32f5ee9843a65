import { PRIVATE_KEY, writeArmor } from '../../functions/domain/openpgp/armor.ts'
import { writeInteger, writeNumber } from '../../functions/domain/openpgp/octets.ts'
import { PACKET } from '../../functions/domain/openpgp/packets.ts'
import { signedBytes } from './der-writer.ts'
import type { RSANumbers } from './key-files.ts'

/** A packet with the long form of its length. */
export function packet(type: number, ...body: readonly Buffer[]): Buffer {
  const whole = Buffer.concat(body)
  return Buffer.concat([Buffer.from([0xc0 | type, 0xff]), writeNumber(whole.length, 4), whole])
}

/** What a packet with a secret key is made of; by default of an RSA key of version 4 that is not encrypted. */
export interface SecretKeyParts {
  readonly type?: number
  readonly version?: number
  readonly algorithm?: number
  /** Seconds since 1970. */
  readonly made?: number
  readonly publicHalf: Buffer
  /** Without its checksum. */
  readonly secret: Buffer
  /** What comes before the secret half. */
  readonly protection?: Buffer
}

/** A packet with a secret key. */
export function secretKey(parts: SecretKeyParts): Buffer {
  const { type = PACKET.secretKey, version = 4, algorithm = 1, made = 1 } = parts
  const { publicHalf, secret, protection = Buffer.alloc(1) } = parts
  const head = Buffer.concat([Buffer.from([version]), writeNumber(made, 4), Buffer.from([algorithm])])
  const sum = secret.reduce((total, octet) => (total + octet) & 0xffff, 0)
  return packet(type, head, publicHalf, protection, secret, writeNumber(sum, 2))
}

/** The halves of an RSA key (RFC 9580, section 5.5.5.1), whose first prime is the second one of PKCS#1. */
export function rsaHalves({ n, e, d, p, q, qi }: RSANumbers): Pick<SecretKeyParts, 'publicHalf' | 'secret'> {
  return { publicHalf: integers(n, e), secret: integers(d, q, p, qi) }
}

/** Multiprecision integers one after the other. */
export function integers(...numbers: readonly bigint[]): Buffer {
  return Buffer.concat(numbers.map((number) => writeInteger(signedBytes(number))))
}

/** What a signature says; it signs nothing. */
export interface StatementParts {
  readonly flags?: number
  readonly lifetime?: number
  readonly made?: number
  readonly issuer?: Buffer
}

/** A signature packet of this type that says this of the key before it. */
export function statement(type: number, parts: StatementParts = {}): Buffer {
  const { flags, lifetime, made = 1, issuer } = parts
  const hashed = [
    subpacket(2, writeNumber(made, 4)),
    ...(flags === undefined ? [] : [subpacket(27, Buffer.from([flags]))]),
    ...(lifetime === undefined ? [] : [subpacket(9, writeNumber(lifetime, 4))]),
  ]
  const others = issuer === undefined ? [] : [subpacket(16, issuer)]
  const areas = [hashed, others].flatMap((area) => [writeNumber(Buffer.concat(area).length, 2), ...area])
  return packet(PACKET.signature, Buffer.from([4, type, 1, 10]), ...areas)
}

/** A user ID. */
export function userID(text: string): Buffer {
  return packet(PACKET.userID, Buffer.from(text))
}

/** The armored file of these packets. */
export function keyFile(...packets: readonly Buffer[]): string {
  return writeArmor(PRIVATE_KEY, Buffer.concat(packets))
}

function subpacket(type: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([value.length + 1, type]), value])
}
