import type { ObjectId } from '../objects/object.ts'
import { commandV2 } from './command.ts'
import { readPackets, textOf } from './pkt-line.ts'
import { protocolError } from './protocol-error.ts'

/** A ref as the server lists it. */
export interface ListedRef {
  readonly id: ObjectId
  /** Full name of the ref that a symbolic ref points to. */
  readonly target: string | undefined
}

/** The request for the refs whose full names begin with one of the prefixes, and what symbolic refs point to. */
export function lsRefsCommand(prefixes: readonly string[]): Buffer {
  return commandV2('ls-refs', ['symrefs\n', ...prefixes.map((prefix) => `ref-prefix ${prefix}\n`)])
}

/**
 * Reads the answer (gitprotocol-v2(5), ls-refs): refs by their full names.
 * @throws ProtocolError
 */
export function readListedRefs(answer: Buffer): ReadonlyMap<string, ListedRef> {
  const refs = new Map<string, ListedRef>()
  const packets = readPackets(answer)
  for (const packet of packets) {
    if (packet === 'flush') {
      if (packets.next().done !== true) throw protocolError('UNEXPECTED', 'more than a list of refs')
      return refs
    }
    if (typeof packet === 'string') throw protocolError('UNEXPECTED', `a ${packet} packet in a list of refs`)
    const [id = '', name = '', ...attributes] = textOf(packet).split(' ')
    // Some servers list a HEAD without a commit, although nobody asked for it.
    if (id === 'unborn') continue
    if (!/^[0-9a-f]{40}$/.test(id) || name === '') throw protocolError('UNEXPECTED', 'a line without a ref')
    const target = attributes.find((attribute) => attribute.startsWith(TARGET))
    refs.set(name, { id, target: target?.slice(TARGET.length) })
  }
  throw answer.length === 0
    ? protocolError('UNEXPECTED', 'an empty answer instead of a list of refs')
    : protocolError('TRUNCATED', 'a list of refs without an end')
}

const TARGET = 'symref-target:'
