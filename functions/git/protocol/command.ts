import { DELIMITER, FLUSH, packet } from './pkt-line.ts'

/** How Commitlet names itself to servers. Many of them expect a name that begins like that of Git. */
export const AGENT = 'git/commitlet'

/** A command of protocol version 2 with its arguments (gitprotocol-v2(5), "Command Request"). */
export function commandV2(name: 'ls-refs' | 'fetch', args: readonly string[]): Buffer {
  const capabilities = [`command=${name}\n`, `agent=${AGENT}\n`, 'object-format=sha1\n']
  return Buffer.concat([...capabilities.map(packet), DELIMITER, ...args.map(packet), FLUSH])
}
