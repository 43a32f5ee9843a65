import type { ObjectId } from '../objects/object.ts'
import { commandV2 } from './command.ts'
import { readPackets, textOf, type Packet } from './pkt-line.ts'
import { protocolError } from './protocol-error.ts'
import { readSideBand } from './side-band.ts'

/** What is fetched. The history is cut, always; nothing is negotiated. */
export interface FetchRequest {
  readonly wants: readonly ObjectId[]
  /**
   * Commits that are here with all their trees and without their history: what they hold is not sent again, and the pack
   * may have deltas against it.
   */
  readonly haves?: readonly ObjectId[]
  /** `blob:none`: commits and trees; `tree:0`: commits alone; left out: objects that hold no others, such as files. */
  readonly filter?: 'blob:none' | 'tree:0'
  /** That many generations of commits, or those since a date; left out: no commit is fetched. */
  readonly depth?: number | Date
}

/** What came. */
export interface Fetched {
  /** Commits whose parents were not sent. */
  readonly shallow: readonly ObjectId[]
  /** The pack, not checked yet. */
  readonly pack: Buffer
  /** What the server prints for the user. */
  readonly progress: string
}

/** The request (gitprotocol-v2(5), fetch). */
export function fetchCommand({ wants, haves = [], filter, depth }: FetchRequest): Buffer {
  return commandV2('fetch', [
    'no-progress',
    'ofs-delta',
    // Only for a thin pack does upload-pack look at the trees of commits that are here without their history.
    ...(haves.length > 0 ? ['thin-pack'] : []),
    ...haves.map((id) => `shallow ${id}\n`),
    ...(depth === undefined ? [] : [`${cutAt(depth)}\n`]),
    ...(filter === undefined ? [] : [`filter ${filter}\n`]),
    ...wants.map((id) => `want ${id}\n`),
    ...haves.map((id) => `have ${id}\n`),
    'done\n',
  ])
}

function cutAt(depth: number | Date): string {
  return typeof depth === 'number' ? `deepen ${depth}` : `deepen-since ${Math.floor(depth.getTime() / 1000)}`
}

/**
 * Reads the answer. `no pack`: the server ended between two packets before its pack, as upload-pack does where no commit
 * is as new as the date.
 * @throws ProtocolError; UNEXPECTED for an empty answer, which comes where filters are not allowed
 */
export function readFetched(answer: Buffer): Fetched | 'no pack' {
  if (answer.length === 0) throw protocolError('UNEXPECTED', 'an empty answer to a fetch')
  const packets = readPackets(answer)
  const shallow: ObjectId[] = []
  let section = ''
  for (const packet of packets) {
    const line = typeof packet === 'string' ? '' : textOf(packet)
    if (section === '' && line === 'packfile') return { shallow, ...readPack(packets, answer.length) }
    if (section === '' && line === 'shallow-info') section = line
    else if (section !== '' && packet === 'delimiter') section = ''
    else if (section !== '' && line.startsWith(SHALLOW)) shallow.push(line.slice(SHALLOW.length))
    else if (section === '' || !line.startsWith('unshallow '))
      throw protocolError('UNEXPECTED', 'not the answer to a fetch')
  }
  return 'no pack'
}

const SHALLOW = 'shallow '

function readPack(packets: Iterator<Packet, void>, most: number): Pick<Fetched, 'pack' | 'progress'> {
  const { data, progress } = readSideBand(packets, most)
  if (packets.next().done !== true) throw protocolError('UNEXPECTED', 'more than a pack')
  return { pack: data, progress }
}
