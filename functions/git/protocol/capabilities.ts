import { readPackets, textOf } from './pkt-line.ts'
import { protocolError } from './protocol-error.ts'

/**
 * Checks what git-upload-pack says of itself before the first command (gitprotocol-v2(5), "Capability Advertisement"):
 * version 2, SHA-1, and fetches that are shallow and filtered.
 * @throws ProtocolError
 */
export function checkCapabilities(advertisement: Buffer): void {
  const lines: string[] = []
  for (const packet of readPackets(advertisement)) if (typeof packet !== 'string') lines.push(textOf(packet))
  if (lines[0] !== 'version 2')
    throw protocolError('UNEXPECTED', 'it does not speak version 2 of the protocol')
  const fetch = lines.find((line) => line.startsWith('fetch='))?.slice('fetch='.length) ?? ''
  const lacking = ['shallow', 'filter'].filter((feature) => !fetch.split(' ').includes(feature))
  if (lacking.length > 0) throw protocolError('UNEXPECTED', `its fetch lacks: ${lacking.join(', ')}`)
  const format = lines.find((line) => line.startsWith('object-format='))
  if (format !== undefined && format !== 'object-format=sha1')
    throw protocolError('UNEXPECTED', 'its objects have other names than SHA-1')
}
