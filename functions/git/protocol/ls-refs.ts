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
    const line = textOf(packet)
    // Some servers list a HEAD without a commit, although nobody asked for it.
    if (line.startsWith('unborn ')) continue
    const end = endOfWord(line, NAME)
    if (!BEGINNING.test(line) || end === NAME) throw protocolError('UNEXPECTED', 'a line without a ref')
    const target = line.indexOf(TARGET, end)
    refs.set(line.slice(NAME, end), {
      id: line.slice(0, NAME - 1),
      target: target < 0 ? undefined : wordAt(line, target + TARGET.length),
    })
  }
  throw answer.length === 0
    ? protocolError('UNEXPECTED', 'an empty answer instead of a list of refs')
    : protocolError('TRUNCATED', 'a list of refs without an end')
}

const BEGINNING = /^[0-9a-f]{40} /
/** Where the name begins. */
const NAME = 41
const TARGET = ' symref-target:'

// Lines are not split: one may have as many spaces as a packet has bytes.
function wordAt(line: string, start: number): string {
  return line.slice(start, endOfWord(line, start))
}

function endOfWord(line: string, start: number): number {
  const end = line.indexOf(' ', start)
  return end < 0 ? Math.max(line.length, start) : end
}
