import { randomBytes } from 'node:crypto'
import { makeObject } from '../../../functions/git/objects/object.ts'
import { packet } from '../../../functions/git/protocol/pkt-line.ts'
import { BLOB, delta, entry, packOf, REF } from '../objects/pack-bytes.ts'

/** Bytes of each object, which take 2 ms of the processor to make and to hash. */
const SIZE = 1024 * 1024
/** Bytes of a packet of the pack. */
const PIECE = 32 * 1024

/** The answer to a fetch (protocol version 2) with a small pack that becomes so many different objects of 1 MiB. */
export function deltaBomb(objects: number): Buffer {
  const zeros = Buffer.alloc(SIZE)
  const base = Buffer.from(makeObject('blob', zeros).id, 'hex')
  const deltas = Array.from({ length: objects }, (_, i) => {
    // All but four bytes of the base (gitformat-pack(5)), then four that differ.
    const bytes = [0, 8, 16].map((shift) => ((SIZE - 4) >> shift) & 0xff)
    const tail = [24, 16, 8, 0].map((shift) => ((i + 1) >> shift) & 0xff)
    return entry(REF, delta(SIZE, SIZE, [0xf0, ...bytes, 4, ...tail]), { base })
  })
  return fetched(packOf([entry(BLOB, zeros), ...deltas]))
}

/** The answer to a fetch with a pack whose only object is made from one that is not there. */
export function withoutBase(): Buffer {
  return fetched(packOf([entry(REF, delta(4, 4, [4, 1, 2, 3, 4]), { base: randomBytes(20) })]))
}

function fetched(pack: Buffer): Buffer {
  const packets = [packet('packfile\n')]
  for (let at = 0; at < pack.length; at += PIECE)
    packets.push(packet(Buffer.concat([Buffer.from([1]), pack.subarray(at, at + PIECE)])))
  return Buffer.concat([...packets, Buffer.from('0000')])
}
