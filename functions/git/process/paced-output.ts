/** Pieces that are read as they come: a git that is asked to be quiet writes fewer. */
const FREE_PIECES = 100
/** How long a stream rests after each further one, in milliseconds: what is written meanwhile is one piece. */
const REST_MS = 10

/**
 * Reads what a process writes. Each line of a server is a write of git's, which takes 10 microseconds to read by itself, and a
 * server may send a million lines of one byte.
 */
export function readPaced(stream: NodeJS.ReadableStream, take: (piece: Buffer) => void): void {
  let left = FREE_PIECES
  stream.on('data', (piece: Buffer) => {
    take(piece)
    left -= 1
    if (left >= 0) return
    stream.pause()
    setTimeout(() => stream.resume(), REST_MS)
  })
}
