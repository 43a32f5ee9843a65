import { readPackets, textOf } from './pkt-line.ts'
import { protocolError } from './protocol-error.ts'

/** What git-upload-pack can do that not each server can. */
export interface Capabilities {
  /** It tells which branch a HEAD without a commit points to. */
  readonly unborn: boolean
  /** What its fetches do not have of what is needed: to be shallow, and filtered. */
  readonly lacking: readonly string[]
}

/**
 * Reads what git-upload-pack says of itself before the first command (gitprotocol-v2(5), "Capability Advertisement"), which has
 * to be of version 2 and SHA-1.
 * @throws ProtocolError
 */
export function readCapabilities(advertisement: Buffer): Capabilities {
  const lines = linesOf(advertisement)
  if (lines[0] !== 'version 2')
    throw protocolError('UNEXPECTED', 'it does not speak version 2 of the protocol')
  const fetch = lines.find((line) => line.startsWith('fetch='))?.slice('fetch='.length) ?? ''
  const lacking = ['shallow', 'filter'].filter((feature) => !fetch.split(' ').includes(feature))
  const format = lines.find((line) => line.startsWith('object-format='))
  if (format !== undefined && format !== 'object-format=sha1')
    throw protocolError('UNEXPECTED', 'its objects have other names than SHA-1')
  return { unborn: lines.some(isUnbornLine), lacking }
}

/** @throws ProtocolError where its fetches lack something */
export function requireFetches({ lacking }: Capabilities): void {
  if (lacking.length > 0) throw protocolError('UNEXPECTED', `its fetch lacks: ${lacking.join(', ')}`)
}

/**
 * Whether git-upload-pack has that capability, by what it says over HTTP, where a line with its name may come first
 * (gitprotocol-http(5), "Smart Server Response"). What is no such answer says nothing of it.
 */
export function readUnborn(advertisement: Buffer): boolean {
  try {
    const lines = linesOf(advertisement)
    return lines.includes('version 2') && lines.some(isUnbornLine)
  } catch {
    return false
  }
}

function isUnbornLine(line: string): boolean {
  return line.startsWith('ls-refs=') && line.slice('ls-refs='.length).split(' ').includes('unborn')
}

function linesOf(advertisement: Buffer): readonly string[] {
  const lines: string[] = []
  for (const packet of readPackets(advertisement)) if (typeof packet !== 'string') lines.push(textOf(packet))
  return lines
}
