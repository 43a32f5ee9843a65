import type { ObjectId } from '../objects/object.ts'
import { AGENT } from './command.ts'
import { FLUSH, packet, readPackets, refuseError, textOf, type Packet } from './pkt-line.ts'
import { protocolError } from './protocol-error.ts'
import { isRefLine, refFinder } from './ref-line.ts'
import { readSideBand } from './side-band.ts'

/** The update of one ref. */
export interface RefUpdate {
  /** Full name. */
  readonly ref: string
  /** The lease: the server moves the ref from there or not at all. Undefined: the ref must not exist. */
  readonly from: ObjectId | undefined
  readonly to: ObjectId
}

/** What the server says about the update. */
export interface PushReport {
  /** Undefined: the pack is stored; else why not. */
  readonly unpackError: string | undefined
  /** `ok`, the reason of a refusal, or undefined: nothing is said about the ref. */
  readonly ref: 'ok' | { readonly refused: string } | undefined
  /** What the server and its hooks print for the user. */
  readonly progress: string
}

const NO_COMMIT = '0'.repeat(40)

// An unknown capability is ignored. `ofs-delta` and thin packs need none.
const CAPABILITIES = `report-status side-band-64k quiet object-format=sha1 agent=${AGENT}`

/** The request up to the pack, which follows it (gitprotocol-pack(5), "Reference Update Request"). */
export function pushCommand({ ref, from = NO_COMMIT, to }: RefUpdate): Buffer {
  return Buffer.concat([packet(`${from} ${to} ${ref}\0${CAPABILITIES}`), FLUSH])
}

/**
 * Where the ref is, by what receive-pack lists before a push (gitprotocol-pack(5), "Reference Discovery"); undefined:
 * it does not exist.
 * @throws ProtocolError; UNEXPECTED for a server that takes no thin packs, or names objects by SHA-256
 */
export function readAdvertisedRef(advertisement: Buffer, ref: string): ObjectId | undefined {
  const find = refFinder([ref])
  let found: ObjectId | undefined
  let isFirst = true
  for (const one of readPackets(advertisement)) {
    if (one === 'flush') return found
    if (typeof one === 'string') throw protocolError('UNEXPECTED', `a ${one} packet in a list of refs`)
    if (isFirst) checkCapabilities(textOf(one))
    isFirst = false
    if (isRefLine(one)) found ??= find(one)?.id
    else refuseError(one)
  }
  throw protocolError('TRUNCATED', 'a list of refs without an end')
}

/** They stand behind the first ref. */
function checkCapabilities(line: string): void {
  const [, capabilities = ''] = line.split('\0', 2)
  if (/(^| )(no-thin|object-format=sha256)( |$)/.test(capabilities))
    throw protocolError('UNEXPECTED', 'it takes no thin packs, or names objects by SHA-256')
}

/**
 * Reads the answer (gitprotocol-pack(5), "Report Status"), with or without a side band.
 * @throws ProtocolError
 */
export function readPushReport(answer: Buffer, ref: string): PushReport {
  const [first] = readPackets(answer)
  if (Buffer.isBuffer(first) && first[0] !== undefined && first[0] > 3)
    return { ...readReport(readPackets(answer), ref), progress: '' }
  const { data, progress } = readSideBand(readPackets(answer), answer.length)
  return { ...readReport(readPackets(data), ref), progress }
}

function readReport(packets: Iterable<Packet>, ref: string): Omit<PushReport, 'progress'> {
  const lines: string[] = []
  for (const one of packets) {
    if (one === 'flush') return reportIn(lines, ref)
    if (typeof one === 'string') throw protocolError('UNEXPECTED', `a ${one} packet in a report`)
    lines.push(textOf(one))
  }
  throw protocolError('TRUNCATED', 'a report without an end')
}

function reportIn([unpacked = '', ...lines]: readonly string[], ref: string): Omit<PushReport, 'progress'> {
  if (!unpacked.startsWith('unpack '))
    throw protocolError('UNEXPECTED', 'a report that does not begin as one')
  const status = unpacked.slice('unpack '.length)
  const refused = lines.find((line) => line.startsWith(`ng ${ref} `))?.slice(`ng ${ref} `.length)
  const accepted = lines.includes(`ok ${ref}`)
  return {
    unpackError: status === 'ok' ? undefined : status,
    ref: refused === undefined ? (accepted ? 'ok' : undefined) : { refused },
  }
}
