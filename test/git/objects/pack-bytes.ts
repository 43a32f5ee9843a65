import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { makeObject, type NewObject } from '../../../functions/git/objects/object.ts'
import type { ReadPackOptions } from '../../../functions/git/objects/pack-options.ts'
import { startPack } from '../../../functions/git/objects/pack-writer.ts'

/** Limits that no test reaches unless it lowers them. */
export const LIMITS = {
  packBytes: 2 ** 28,
  objects: 1e6,
  objectBytes: 2 ** 27,
  totalBytes: 2 ** 28,
  deltaDepth: 4095,
}

/** Reads with these limits, without further objects. */
export function options(limits: Partial<typeof LIMITS> = {}): ReadPackOptions {
  return { limits: { ...LIMITS, ...limits }, base: () => undefined, signal: new AbortController().signal }
}

/** A pack of these entries, with a right trailer; `count` may lie. */
export function packOf(entries: readonly Buffer[], count = entries.length): Buffer {
  const header = Buffer.from('PACK\0\0\0\x02\0\0\0\0', 'latin1')
  header.writeUInt32BE(count, 8)
  return sealed(Buffer.concat([header, ...entries]))
}

/** The bytes with their SHA-1 at the end. */
export function sealed(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, createHash('sha1').update(bytes).digest()])
}

/** An entry: its type, what stands between size and content, and the content; `size` may lie. */
export function entry(type: number, content: Buffer, more: { size?: number; base?: Buffer } = {}): Buffer {
  const size = more.size ?? content.length
  const bytes = [(type << 4) | (size % 16)]
  for (let left = Math.floor(size / 16); left > 0; left = Math.floor(left / 128)) {
    bytes[bytes.length - 1]! |= 0x80
    bytes.push(left % 128)
  }
  return Buffer.concat([Buffer.from(bytes), more.base ?? Buffer.alloc(0), deflateSync(content)])
}

/** A delta of these sizes and instructions. */
export function delta(from: number, to: number, instructions: readonly number[]): Buffer {
  return Buffer.from([...sizeBytes(from), ...sizeBytes(to), ...instructions])
}

function sizeBytes(size: number): readonly number[] {
  return size < 128 ? [size] : [(size % 128) | 0x80, ...sizeBytes(Math.floor(size / 128))]
}

/** Types of entries. */
export const BLOB = 3
export const OFS = 6
export const REF = 7

/** A blob for deltas, its id as bytes, and its entry. */
export const base = Buffer.from('a base of some length for deltas')
export const baseId = Buffer.from(makeObject('blob', base).id, 'hex')
export const head = entry(BLOB, base)

/** An entry with a delta on the base, which comes right before it in the pack. */
export function onBase(instructions: Buffer): Buffer {
  return entry(OFS, instructions, { base: Buffer.from([head.length]) })
}

/** A pack of these objects, as Commitlet writes it. */
export async function writtenPack(objects: readonly NewObject[], signal?: AbortSignal): Promise<Buffer> {
  const pack = startPack(signal)
  for (const object of objects) await pack.add(object)
  return Buffer.concat(await pack.finish())
}
