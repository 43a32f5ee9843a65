import { entries } from '../json-value.ts'

/** An object in a chain of objects, each with a key that no other has, takes up to 250 bytes (measured with V8). */
const VALUE_BYTES = 256
/** Of a character, where a text holds one that is not in Latin-1. */
const CHARACTER_BYTES = 2

/**
 * At least as many bytes as a parsed JSON value takes in memory. That may be 25 times its text, and is estimated from above: most
 * values take far less. It does not recurse: no depth can crash it.
 */
export function heapSize(value: unknown): number {
  let bytes = 0
  const open = [value]
  while (open.length > 0) {
    const one = open.pop()
    bytes += VALUE_BYTES
    if (typeof one === 'string') bytes += one.length * CHARACTER_BYTES
    else if (Array.isArray(one)) for (const item of one) open.push(item)
    else {
      for (const [key, member] of entries(one)) {
        bytes += key.length * CHARACTER_BYTES
        open.push(member)
      }
    }
  }
  return bytes
}
