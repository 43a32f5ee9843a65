import { StringDecoder } from 'node:string_decoder'
import { growingBuffer } from '../../domain/network/growing-buffer.ts'

/** What a program writes to its standard error. */
export interface KeptWords {
  readonly add: (chunk: Buffer) => void
  /** What is kept of it. */
  readonly text: () => string
  /** Tells now what was added. */
  readonly tell: () => void
  /** Tells nothing more. */
  readonly end: () => void
}

/** More than a message can show, and few enough for the patterns of errors, which may take quadratic time (20 ms). */
export const KEPT_BYTES = 8 * 1024
/** A server may send each byte alone: what comes within so many milliseconds is told together. */
const TOGETHER_MS = 5

/** Keeps the first 8 KiB; `said` gets them in pieces: the first at once, and each of the others a moment after the one before. */
export function keepWords(said: (more: string) => void): KeptWords {
  const kept = growingBuffer(KEPT_BYTES)
  // A character may come in two pieces.
  const decoder = new StringDecoder()
  let room = KEPT_BYTES
  let untold = ''
  let timer: NodeJS.Timeout | undefined

  function tell(): void {
    if (untold === '') return
    clearTimeout(timer)
    said(untold)
    untold = ''
    timer = setTimeout(rest, TOGETHER_MS)
  }

  function rest(): void {
    timer = undefined
    tell()
  }

  return {
    add(chunk) {
      if (room === 0) return
      const fitting = chunk.subarray(0, room)
      room -= fitting.length
      kept.add(fitting)
      untold += decoder.write(fitting)
      if (timer === undefined) tell()
    },
    tell,
    text: () => kept.bytes().toString(),
    end: () => clearTimeout(timer),
  }
}
