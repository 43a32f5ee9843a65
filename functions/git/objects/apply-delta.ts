import { brokenPack, type Budget } from './pack-options.ts'

/** What an instruction costs besides the bytes that it copies, in bytes. */
const INSTRUCTION_WORK = 64

/** Work between two yields: at most 1 ms. */
const STEP_WORK = 256 * 1024

const COPY = 0x80

/**
 * Applies a delta (gitformat-pack(5), "Deltified representation"), checked to the byte. Yields the work done since the
 * last time, in bytes, so that a caller can pause; returns the new object.
 * @throws Failure ProviderUnavailable for a delta that is not one of this base; what `budget` throws for its size
 */
export function* applyDelta(base: Buffer, delta: Buffer, budget: Budget): Generator<number, Buffer> {
  const from = readSize(delta, 0)
  const to = readSize(delta, from.next)
  if (from.size !== base.length) throw brokenPack('a delta is for a base of another size')
  budget(to.size)
  const result = Buffer.allocUnsafe(to.size)
  let written = 0
  let work = 0
  for (let at = to.next; at < delta.length;) {
    const { source, start, end, next } = readInstruction(base, delta, at)
    if (written + end - start > result.length) throw brokenPack('a delta makes more bytes than it says')
    written += source.copy(result, written, start, end)
    work += INSTRUCTION_WORK + end - start
    at = next
    if (work < STEP_WORK) continue
    yield work
    work = 0
  }
  if (written !== result.length) throw brokenPack('a delta makes fewer bytes than it says')
  yield work
  return result
}

/** Bytes to copy. */
interface Instruction {
  readonly source: Buffer
  readonly start: number
  readonly end: number
  /** Where the next instruction is. */
  readonly next: number
}

function readInstruction(base: Buffer, delta: Buffer, at: number): Instruction {
  const code = byteAt(delta, at)
  if (code === 0) throw brokenPack('a delta has an instruction that Git does not know')
  const start = at + 1
  if ((code & COPY) === 0) return checked({ source: delta, start, end: start + code, next: start + code })
  const offset = readSparse(delta, start, code & 0x0f)
  const size = readSparse(delta, offset.next, (code >> 4) & 0x07)
  // A size of zero stands for 64 KiB.
  const end = offset.value + (size.value === 0 ? 0x10000 : size.value)
  return checked({ source: base, start: offset.value, end, next: size.next })
}

function checked(instruction: Instruction): Instruction {
  if (instruction.end > instruction.source.length) throw brokenPack('a delta copies bytes that do not exist')
  return instruction
}

// Little-endian; only the bytes whose bit is set are there.
function readSparse(delta: Buffer, start: number, bits: number): { value: number; next: number } {
  let value = 0
  let next = start
  for (let i = 0; bits >> i !== 0; i++)
    if (((bits >> i) & 1) === 1) value += byteAt(delta, next++) * 2 ** (8 * i)
  return { value, next }
}

// Little-endian groups of seven bits, the last without the high bit.
function readSize(delta: Buffer, start: number): { size: number; next: number } {
  let size = 0
  for (let at = start; at < start + 7; at++) {
    const byte = byteAt(delta, at)
    size += (byte & 0x7f) * 2 ** (7 * (at - start))
    if ((byte & 0x80) === 0) return { size, next: at + 1 }
  }
  throw brokenPack('a delta has a size that is not possible')
}

function byteAt(delta: Buffer, at: number): number {
  const byte = delta[at]
  if (byte === undefined) throw brokenPack('a delta ends too early')
  return byte
}
