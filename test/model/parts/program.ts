import type { Time } from '../../harness/virtual-time.ts'

/** A call of a program that has no answer yet. */
export interface Call {
  /** Counted from the start of the program. */
  readonly number: number
  readonly kind: CallKind
  /** What is asked, as JSON. */
  readonly text: string
}

/** To the API server; where the branch is, before and after a push; a push; an event to the function. */
export type CallKind = 'read' | 'write' | 'tip' | 'ref' | 'push' | 'post'

/** What a program sees of the others. */
export interface Outside {
  /** The answer; rejects with the signal's reason where that fires first: then nobody waits for the answer. */
  readonly call: (kind: CallKind, text: string, signal?: AbortSignal) => Promise<string>
  /** Tells what has ended. */
  readonly report: (text: string) => void
  /** The resource as it is stored now, for a program that reads it without others in between. */
  readonly stored: () => string
}

/** A program of ours at work. */
export interface Running {
  /** An event for it, or a resource that was admitted. */
  readonly take: (text: string) => void
  /** What it remembers when it has nothing to do; undefined while it has. */
  readonly rest: (time: Time) => string | undefined
}

/** Real code behind ports, and a name for what it is. */
export interface Program {
  readonly name: string
  /** What the clock of its machine says at its start, in milliseconds since 1970. */
  readonly wall: number
  readonly start: (outside: Outside, memory: string, time: Time) => Running
}

/** What happens to a program, by the seconds of its own clock. */
export interface Input {
  readonly at: number
  /** `timers`: those that are due run. A number: that call is answered. */
  readonly to: 'program' | 'timers' | number
  /** `LOST` for a call whose connection broke. */
  readonly text: string
}

export const LOST = 'lost'
