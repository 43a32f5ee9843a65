import type { Packet } from './pkt-line.ts'
import { protocolError } from './protocol-error.ts'

/** The streams that side-band-64k carries in one (gitprotocol-pack(5), "Packfile Data"). */
export interface Demultiplexed {
  readonly data: Buffer
  /** What the server and its hooks print for the user: the first 256 KiB. */
  readonly progress: string
}

/** Far more than any message shows. */
const KEPT_BYTES = 256 * 1024

/**
 * Reads packets up to the flush packet.
 * @throws ProtocolError REMOTE with the text of the error band
 */
export function readSideBand(packets: Iterator<Packet, void>): Demultiplexed {
  const data: Buffer[] = []
  const progress: Buffer[] = []
  let kept = 0
  for (let next = packets.next(); next.done !== true; next = packets.next()) {
    if (next.value === 'flush')
      return { data: Buffer.concat(data), progress: Buffer.concat(progress).toString() }
    if (typeof next.value === 'string')
      throw protocolError('UNEXPECTED', `a ${next.value} packet in a side band`)
    const content = next.value.subarray(1)
    const band = next.value[0]
    if (band === 1) data.push(content)
    else if (band === 2) {
      progress.push(content.subarray(0, KEPT_BYTES - kept))
      kept = Math.min(KEPT_BYTES, kept + content.length)
    } else if (band === 3) throw protocolError('REMOTE', content.toString())
    else throw protocolError('UNEXPECTED', 'a packet of an unknown band')
  }
  throw protocolError('TRUNCATED', 'a side band without an end')
}
