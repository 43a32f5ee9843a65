import { growingBuffer } from '../../domain/network/growing-buffer.ts'
import type { Packet } from './pkt-line.ts'
import { protocolError } from './protocol-error.ts'

/** The streams that side-band-64k carries in one (gitprotocol-pack(5), "Packfile Data"). */
export interface Demultiplexed {
  readonly data: Buffer
  /** What the server and its hooks print for the user: the first 256 KiB. */
  readonly progress: string
}

/** Far more than any message shows. */
export const KEPT_BYTES = 256 * 1024

/**
 * Reads packets up to the flush packet. `most`: bytes of the answer that they come from, which has no more data.
 * @throws ProtocolError REMOTE with the text of the error band
 */
export function readSideBand(packets: Iterator<Packet, void>, most: number): Demultiplexed {
  const data = Buffer.allocUnsafeSlow(most)
  const progress = growingBuffer(KEPT_BYTES)
  let [size, kept] = [0, 0]
  for (let next = packets.next(); next.done !== true; next = packets.next()) {
    if (next.value === 'flush') return { data: data.subarray(0, size), progress: progress.bytes().toString() }
    if (typeof next.value === 'string')
      throw protocolError('UNEXPECTED', `a ${next.value} packet in a side band`)
    const content = next.value.subarray(1)
    const band = next.value[0]
    if (band === 1) {
      data.set(content, size)
      size += content.length
    } else if (band === 2) {
      const part = content.subarray(0, KEPT_BYTES - kept)
      progress.add(part)
      kept += part.length
    } else if (band === 3) throw protocolError('REMOTE', content.toString())
    else throw protocolError('UNEXPECTED', 'a packet of an unknown band')
  }
  throw protocolError('TRUNCATED', 'a side band without an end')
}
