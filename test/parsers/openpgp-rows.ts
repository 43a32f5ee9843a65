import { findOpenPGPKey } from '../../functions/domain/openpgp/find-key.ts'
import { huge, makeRSA } from '../harness/key-files.ts'
import { keyFile, packet, rsaHalves, secretKey, statement } from '../harness/openpgp-writer.ts'
import { textRow, type ParserRow } from './row.ts'

const KIBI = 1024
const BEGIN = '-----BEGIN PGP PRIVATE KEY BLOCK-----\n\n'
const END = '\n-----END PGP PRIVATE KEY BLOCK-----'
/** The longest multiprecision integer. */
const MOST_BITS = 65_535
/** Flags of a key that signs. */
const SIGNS = 0x02

/** What a Secret with a signing key of OpenPGP holds. */
export const OPENPGP_ROWS: readonly ParserRow[] = [
  textRow({
    parser: 'OpenPGP key (armor)',
    largest: 16 * KIBI,
    read: (text) => findOpenPGPKey(Buffer.from(text)),
    texts: {
      'keys that do not end': ['', BEGIN, ''],
      headers: [BEGIN, 'Comment: x\n', END],
      checksums: [BEGIN, '=AAAA\n', END],
      'empty packets': [BEGIN, 'zQDN\n', END],
      blanks: ['', ' ', 'a'],
    },
  }),
  {
    parser: 'OpenPGP key (packets)',
    largest: 10 * KIBI,
    shapes: {
      'a large modulus': (size) =>
        reads(secretKey(rsaHalves({ ...GOOD, n: huge(Math.min(size * 7, MOST_BITS)) }))),
      'a large exponent': (size) =>
        reads(secretKey(rsaHalves({ ...GOOD, e: huge(Math.min(size * 7, MOST_BITS)) }))),
      'a key with 4,096 bits': () => reads(secretKey(rsaHalves(LONGEST))),
      'many signatures': (size) =>
        reads(secretKey(rsaHalves(GOOD)), ...repeated(size / 30, () => [statement(0x13, { flags: SIGNS })])),
      'many subpackets': (size) =>
        reads(
          secretKey(rsaHalves(GOOD)),
          packet(
            2,
            Buffer.from([4, 0x13, 1, 10, size >> 8, size & 0xff]),
            Buffer.alloc(size, 1),
            Buffer.alloc(2),
          ),
        ),
      'many subkeys': (size) => reads(secretKey(rsaHalves(GOOD)), ...repeated(size / 130, subkey)),
    },
  },
]

const GOOD = makeRSA(2048)
const LONGEST = makeRSA(4096)

/** A subkey that signs. */
function subkey(): readonly Buffer[] {
  const halves = { publicHalf: Buffer.alloc(32), secret: Buffer.alloc(32) }
  return [secretKey({ type: 7, algorithm: 27, ...halves }), statement(0x18, { flags: SIGNS })]
}

function repeated(times: number, make: () => readonly Buffer[]): readonly Buffer[] {
  return Array.from({ length: times }, make).flat()
}

function reads(...packets: readonly Buffer[]): () => unknown {
  const text = Buffer.from(keyFile(...packets))
  return () => findOpenPGPKey(text)
}
