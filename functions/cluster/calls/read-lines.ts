/** Limits for a stream of lines. */
export interface LineBounds {
  /** Characters of one line. */
  readonly most: number
  /** Ends the reading; the promise then rejects with its reason. */
  readonly signal: AbortSignal
}

/**
 * Hands on each line of a stream as it arrives, without its end, and keeps only the line that is not complete yet. Empty
 * lines, and a last one without an end, are left out. Resolves at the end of the stream with true, or with false if a line
 * was too long: the caller then destroys the stream. Rejects with the error of the stream, or with the code ECONNRESET if
 * it closes before its end.
 */
export function readLines(
  stream: NodeJS.ReadableStream,
  take: (line: string) => void,
  { most, signal }: LineBounds,
): Promise<boolean> {
  const { promise, resolve, reject } = Promise.withResolvers<boolean>()
  const decoder = new TextDecoder()
  let pieces: string[] = []
  let length = 0

  function read(piece: Buffer): void {
    const [first = '', ...others] = decoder.decode(piece, { stream: true }).split('\n')
    keep(first)
    for (const next of others) {
      if (length > most) break
      handOn()
      keep(next)
    }
    if (length > most) finish(() => resolve(false))
  }
  function keep(text: string): void {
    pieces.push(text)
    length += text.length
  }
  function handOn(): void {
    const line = pieces.join('')
    pieces = []
    length = 0
    if (line !== '') take(line)
  }
  const end = (): void => finish(() => resolve(true))
  const fail = (error: unknown): void => finish(() => reject(error))
  const close = (): void =>
    fail(Object.assign(new Error('The stream was closed before its end.'), { code: 'ECONNRESET' }))
  const abort = (): void => fail(signal.reason)

  function finish(settle: () => void): void {
    stream.off('data', read).off('end', end).off('close', close).off('error', fail)
    // A stream may report an error when it is destroyed.
    stream.on('error', () => undefined).pause()
    signal.removeEventListener('abort', abort)
    settle()
  }

  stream.on('error', fail).on('end', end).on('close', close)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  else stream.on('data', read)
  return promise
}
