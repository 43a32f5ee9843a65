/**
 * The text of a stream of bytes in UTF-8; undefined: it has more than so many bytes, of which no more are read, so that a
 * device or a program without an end takes no memory.
 */
export async function textWithin(
  bytes: AsyncIterable<Uint8Array>,
  most: number,
): Promise<string | undefined> {
  const read: Uint8Array[] = []
  let length = 0
  for await (const some of bytes) {
    length += some.length
    if (length > most) return undefined
    read.push(some)
  }
  return Buffer.concat(read).toString()
}
