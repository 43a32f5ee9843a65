/** A whole number from 0 to below `count`. */
export type Draw = (count: number) => number

/** Draws numbers, the same ones for the same seed (xorshift32). */
export function drawsFrom(seed: number): Draw {
  let state = seed >>> 0 || 1
  return (count) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state % count
  }
}

/** What parsers stumble over: in any format. */
const PIECES: readonly Buffer[] = [
  ...[
    '',
    '0',
    '-1',
    '1e999',
    '9'.repeat(400),
    'null',
    'true',
    '{}',
    '[]',
    '""',
    '"__proto__":{},',
    '\\u0000',
  ],
  ...['\n', '\r\n', '\0', ' ', '\t', '\u2028', '\u{1F600}', '%00', '../', '@', '|1|', '!', '*'.repeat(50)],
  ...['0000', '0001', '0002', '0004', 'ffff', 'fff0', '-----BEGIN ', '-----END ', '[[[[[[[[', '{"a":{"a":'],
].map((piece) => Buffer.from(piece))
const BYTES = Buffer.from([0xff, 0xc0, 0x80, 0xed, 0xa0])
const MOST_CHANGES = 4
/** Longer inputs have tests of their own: these are many. */
const LONGEST = 16_384

type Change = (bytes: Buffer, at: number, draw: Draw) => readonly Uint8Array[]

const CHANGES: readonly Change[] = [
  (bytes, at, draw) => [bytes.subarray(0, at), Buffer.from([draw(256)]), bytes.subarray(at + 1)],
  (bytes, at, draw) => [bytes.subarray(0, at), bytes.subarray(at + 1 + draw(16))],
  (bytes, at) => [bytes.subarray(0, at)],
  (bytes, at, draw) => [bytes.subarray(0, at), PIECES[draw(PIECES.length)] ?? BYTES, bytes.subarray(at)],
  (bytes, at, draw) => [bytes.subarray(0, at), BYTES.subarray(draw(BYTES.length)), bytes.subarray(at)],
  // A part once more, at another place.
  (bytes, at, draw) => {
    const from = draw(bytes.length + 1)
    return [bytes.subarray(0, at), bytes.subarray(from, from + draw(64)), bytes.subarray(at)]
  },
  (bytes, at, draw) => [
    bytes.subarray(0, at),
    ...Array(1 + draw(64)).fill(bytes.subarray(at, at + 1 + draw(8))),
    bytes.subarray(at),
  ],
]

/** One to four small changes, mostly one or two, of a valid input: most of it stays, so that it gets far. */
export function mutated(valid: Buffer, draw: Draw): Buffer {
  let bytes = valid
  for (let changes = 1 + draw(1 + draw(MOST_CHANGES)); changes > 0; changes -= 1) {
    const change = CHANGES[draw(CHANGES.length)]
    if (change !== undefined) bytes = Buffer.concat(change(bytes, draw(bytes.length + 1), draw))
  }
  return bytes.subarray(0, LONGEST)
}
