import { keepEnds } from './kept-ends.ts'

/** The beginning of a line of GIT_TRACE_CURL. */
export const TRACE = /^\d\d:\d\d:\d\d\.\d{6} \S+:\d+ +/
/** The beginning of a line that git forwards from the server. */
export const REMOTE = /^remote: ?/
/** The beginning of an error of the server, which may have several lines; git ends after it. */
export const REMOTE_ERROR = /^fatal: remote error: /

/** The standard error of a git, read as it comes. */
export interface KeptStderr {
  readonly add: (chunk: Buffer) => void
  /** What was kept, in lines as git wrote them: of the trace, of git itself, of the server, of git itself after it. */
  readonly text: () => string
}

/**
 * Bytes that are kept of the server's lines, and as many of git's own before and after them, at each end; `keepEnds` keeps up
 * to twice the last ones, which makes 256 KiB. The first ones are more than `redact` reads (10,240 characters of at most three
 * bytes), so that a secret which the cut divides is never shown.
 */
const ENDS = { first: 192 * 1024, last: 32 * 1024 }
/** Bytes that decide which line it is: longer than the prefix of a trace. */
const PREFIX_BYTES = 64
/** Bytes that are read of a line of the trace. */
const TRACE_BYTES = 4 * 1024
/** More POST requests than one: their number has no other meaning. */
const KEPT_POSTS = 2
const NOTHING = Buffer.alloc(0)
const LF = 0x0a
const CR = 0x0d

type Line = 'undecided' | 'trace' | 'server' | 'own'

/**
 * Keeps 256 KiB of the server's lines, 256 KiB each of git's own before the first of them and after it, and the lines of
 * the trace that have a meaning.
 */
export function keepStderr(): KeptStderr {
  const early = keepEnds(ENDS)
  const late = keepEnds(ENDS)
  const server = keepEnds(ENDS)
  const trace = keepTrace()
  let line: Line = 'undecided'
  let start: Buffer = NOTHING
  let isAfterError = false
  let own = early

  /** A part of one line; the last part has its line break. */
  function take(part: Buffer, isEnd: boolean): void {
    if (line === 'server') server.add(part)
    else if (line === 'own') own.add(part)
    else takeStart(part, isEnd)
    if (isEnd) line = 'undecided'
  }

  function takeStart(part: Buffer, isEnd: boolean): void {
    const most = line === 'trace' ? TRACE_BYTES : PREFIX_BYTES + part.length
    start = start.length === 0 ? part : Buffer.concat([start, part]).subarray(0, most)
    if (line === 'undecided' && (isEnd || start.length >= PREFIX_BYTES)) decide()
    if (line === 'undecided' || (line === 'trace' && !isEnd)) return
    if (line === 'trace') trace.add(start.toString('latin1'))
    else (line === 'own' ? own : server).add(start)
    start = NOTHING
  }

  function decide(): void {
    const text = start.toString('latin1', 0, PREFIX_BYTES)
    line = TRACE.test(text) ? 'trace' : REMOTE.test(text) ? 'server' : 'own'
    isAfterError ||= line === 'own' && REMOTE_ERROR.test(text)
    if (line === 'server') own = late
    if (line !== 'own' || !isAfterError) return
    line = 'server'
    server.add(Buffer.from('remote: '))
  }

  return {
    add(chunk) {
      const next = lineBreaks(chunk)
      for (let from = 0; from < chunk.length;) {
        const end = next(from)
        take(chunk.subarray(from, end + 1), end < chunk.length)
        from = end + 1
      }
    },
    text() {
      if (line === 'undecided' && start.length > 0) take(Buffer.from('\n'), true)
      return [trace, early, server, late]
        .map((part) => part.text())
        .filter((text) => text !== '')
        .join('\n')
    },
  }
}

/** The position of the first line break at `from` or after it; the length of the chunk if there is none. */
function lineBreaks(chunk: Buffer): (from: number) => number {
  const next = { [LF]: -1, [CR]: -1 }
  // Each is looked for once: looking for a rare one again for each line would take quadratic time.
  function find(sign: typeof LF | typeof CR, from: number): number {
    if (next[sign] < from) next[sign] = chunk.indexOf(sign, from)
    if (next[sign] < 0) next[sign] = chunk.length
    return next[sign]
  }
  return (from) => Math.min(find(LF, from), find(CR, from))
}

/** The last Retry-After, Date and Location that a server sent, and the first two POST requests. */
function keepTrace() {
  const headers = new Map<string, string>()
  const posts: string[] = []
  return {
    add(line: string): void {
      const name = /<= Recv header: (retry-after|date|location):/i.exec(line)?.[1]
      if (name !== undefined) headers.set(name.toLowerCase(), line.trimEnd())
      else if (posts.length < KEPT_POSTS && line.includes('=> Send header: POST ')) posts.push(line.trimEnd())
    },
    text: () => [...headers.values(), ...posts].join('\n'),
  }
}
