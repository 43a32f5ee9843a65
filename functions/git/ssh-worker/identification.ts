import type { Client } from 'ssh2'

const IDENTIFICATION = /(?:^|\n)SSH-[^\n]*\n/

/**
 * Returns what is to be called with each piece of what a server sends, before ssh2 reads it. Of a line before the first packet (RFC
 * 4253, section 4.2) that comes in more than two pieces, ssh2 forgets those in between, and then takes the host key for a forged one:
 * it is given what there is of the line. It ends a line of more than 8 KiB.
 */
export function keepFirstLine(client: Client): (piece: Buffer) => void {
  let line: Buffer | undefined = Buffer.alloc(0)

  return function keep(piece) {
    const protocol: unknown = Reflect.get(client, '_protocol')
    if (line === undefined || typeof protocol !== 'object' || protocol === null) return
    Reflect.set(protocol, '_buffer', line)
    const seen = Buffer.concat([line, piece])
    const isComplete = IDENTIFICATION.test(seen.toString('latin1'))
    line = isComplete ? undefined : seen.subarray(seen.lastIndexOf('\n') + 1)
  }
}
