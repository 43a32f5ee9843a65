import { growingBuffer } from '../../domain/network/growing-buffer.ts'

/** Lines of which the beginning and the end are kept. */
export interface KeptEnds {
  readonly add: (bytes: Buffer) => void
  /** What was kept. Where something was left out, the text begins again with a whole line. */
  readonly text: () => string
}

/** Keeps the first bytes of what comes, and the last ones with up to as many before them. */
export function keepEnds({ first, last }: { readonly first: number; readonly last: number }): KeptEnds {
  const head = growingBuffer(first)
  let end = growingBuffer(2 * last)
  let room = first
  let isCut = false

  function addToEnd(bytes: Buffer): void {
    if (end.add(bytes)) return
    isCut = true
    const kept = Buffer.concat([end.bytes(), bytes].map((part) => part.subarray(-last))).subarray(-last)
    end = growingBuffer(2 * last)
    end.add(kept)
  }

  return {
    add(bytes) {
      const fitting = bytes.subarray(0, room)
      head.add(fitting)
      room -= fitting.length
      if (fitting.length < bytes.length) addToEnd(bytes.subarray(fitting.length))
    },
    text() {
      const beginning = head.bytes().toString()
      const rest = end.bytes().toString()
      return isCut ? `${beginning}\n${fromWholeLine(rest)}` : beginning + rest
    },
  }
}

// A part of a line has lost its beginning, which says whose line it is.
function fromWholeLine(text: string): string {
  return /[\r\n]([^]*)$/.exec(text)?.[1] ?? ''
}
