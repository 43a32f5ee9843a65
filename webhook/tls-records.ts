/** Of bytes of a connection, how many belong to its next records; 0 for none. */
export type EndOfRecords = (bytes: Buffer, most: number) => number

/** Bytes of the header of a record, of which the last two are its length (RFC 5246, 6.2.1). */
const HEADER = 5

/** Finds where records of TLS end in what comes over one connection, in pieces of any length. */
export function findRecords(): EndOfRecords {
  let ofHeader = 0
  let length = 0
  let ofBody = 0

  /** Passes over what there is of the present record from here on. */
  function pass(bytes: Buffer, start: number): number {
    let at = start
    for (; ofHeader < HEADER && at < bytes.length; at += 1) {
      length = (length * 256 + (bytes[at] ?? 0)) % 65_536
      ofHeader += 1
    }
    const step = Math.min(length - ofBody, bytes.length - at)
    if (ofHeader < HEADER) return at
    ofBody += step
    return at + step
  }

  return function endOfRecords(bytes, most) {
    let at = 0
    for (let records = 0; at < bytes.length && records < most; records += 1) {
      at = pass(bytes, at)
      if (ofHeader < HEADER || ofBody < length) break
      ofHeader = 0
      ofBody = 0
    }
    return at
  }
}
