import type { ObjectId } from '../objects/object.ts'

/** Where the name begins in a line of a list of refs, `ID SP NAME` (gitprotocol-pack(5), "Reference Discovery"). */
export const NAME = 41

const SPACE = 0x20
const LINE_END = 0x0a
const NUL = 0

/** A ref that was looked for. */
export interface FoundRef {
  /** Full name. */
  readonly name: string
  readonly id: ObjectId
}

/**
 * Finds the refs of these full names among the lines of a list. No other line becomes a string: a list of 4 MiB has up to
 * 65,000 lines, for which that would take ten times as long, of the thread that all share.
 */
export function refFinder(names: readonly string[]): (line: Buffer) => FoundRef | undefined {
  const wanted = names.map((name) => ({ name, bytes: Buffer.from(name) }))
  return (line) => {
    const found = wanted.find(({ bytes }) => hasName(line, bytes))
    return found === undefined ? undefined : { name: found.name, id: line.toString('latin1', 0, NAME - 1) }
  }
}

/** Whether the line begins with an id of 40 digits, and a name follows. */
export function isRefLine(line: Buffer): boolean {
  for (let at = 0; at < NAME - 1; at += 1) if (!isDigit(line[at])) return false
  return line[NAME - 1] === SPACE && !endsName(line[NAME])
}

function hasName(line: Buffer, name: Buffer): boolean {
  const end = NAME + name.length
  return line.length >= end && endsName(line[end]) && name.compare(line, NAME, end) === 0
}

/** Attributes, capabilities or the end of the line follow. */
function endsName(byte: number | undefined): boolean {
  return byte === undefined || byte === SPACE || byte === LINE_END || byte === NUL
}

/** In lower case, as Git writes the digits of an id. */
function isDigit(byte = 0): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x61 && byte <= 0x66)
}
