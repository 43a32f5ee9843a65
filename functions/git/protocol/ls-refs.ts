import type { ObjectId } from '../objects/object.ts'
import { commandV2 } from './command.ts'
import { beginsWith, readPackets, refuseError, textOf } from './pkt-line.ts'
import { protocolError } from './protocol-error.ts'
import { isRefLine, NAME, refFinder } from './ref-line.ts'

/** A ref as the server lists it. */
export interface ListedRef {
  readonly id: ObjectId
  /** Full name of the ref that a symbolic ref points to. */
  readonly target: string | undefined
}

/**
 * The request for the refs whose full names begin with one of the prefixes, and what symbolic refs point to. `unborn`: also a
 * HEAD without a commit, which only those servers may be asked for that say that they know it.
 */
export function lsRefsCommand(prefixes: readonly string[], unborn = false): Buffer {
  const wanted = ['symrefs\n', ...(unborn ? ['unborn\n'] : [])]
  return commandV2('ls-refs', [...wanted, ...prefixes.map((prefix) => `ref-prefix ${prefix}\n`)])
}

/** What a list of refs says. */
export interface ListedRefs {
  /** Those that were looked for, by their full names. */
  readonly named: ReadonlyMap<string, ListedRef>
  /** Whether it lists any at all: servers may list others than those with the prefixes. */
  readonly any: boolean
  /** Full name of the ref to which a HEAD without a commit points. */
  readonly unborn: string | undefined
}

/**
 * Reads the answer (gitprotocol-v2(5), ls-refs), and keeps of it the refs of these full names.
 * @throws ProtocolError
 */
export function readListedRefs(answer: Buffer, names: readonly string[]): ListedRefs {
  const named = new Map<string, ListedRef>()
  const find = refFinder(names)
  let any = false
  let unborn: string | undefined
  const packets = readPackets(answer)
  for (const packet of packets) {
    if (packet === 'flush') {
      if (packets.next().done !== true) throw protocolError('UNEXPECTED', 'more than a list of refs')
      return { named, any, unborn }
    }
    if (typeof packet === 'string') throw protocolError('UNEXPECTED', `a ${packet} packet in a list of refs`)
    if (!isRefLine(packet)) {
      refuseError(packet)
      if (!beginsWith(packet, UNBORN)) throw protocolError('UNEXPECTED', 'a line without a ref')
      // Some servers list it although nobody asked for it.
      if (beginsWith(packet, UNBORN_HEAD)) unborn ??= targetIn(textOf(packet), UNBORN_HEAD.length - 1)
      continue
    }
    any = true
    const found = find(packet)
    if (found !== undefined && !named.has(found.name))
      named.set(found.name, { id: found.id, target: targetIn(textOf(packet), NAME + found.name.length) })
  }
  throw answer.length === 0
    ? protocolError('UNEXPECTED', 'an empty answer instead of a list of refs')
    : protocolError('TRUNCATED', 'a list of refs without an end')
}

const UNBORN = Buffer.from('unborn ')
const UNBORN_HEAD = Buffer.from('unborn HEAD ')
const TARGET = ' symref-target:'

// Lines are not split: one may have as many spaces as a packet has bytes.
function targetIn(line: string, attributes: number): string | undefined {
  const at = line.indexOf(TARGET, attributes)
  if (at < 0) return undefined
  const start = at + TARGET.length
  const end = line.indexOf(' ', start)
  return line.slice(start, end < 0 ? undefined : end)
}
