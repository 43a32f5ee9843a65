/** Milliseconds after which further work waits for the next turn of the event loop. */
export const TURN_MS = 10

/** What this turn of the event loop has taken. */
export interface TurnOfLoop {
  readonly isFull: () => boolean
  readonly add: (milliseconds: number) => void
  /** Waits for the next one, which is the same for all who wait. */
  readonly next: () => Promise<void>
}

/** An empty one. `nextTurn` resolves in the next turn of the event loop. */
export function openTurnOfLoop(nextTurn: () => Promise<unknown>): TurnOfLoop {
  let held = 0
  let next: Promise<void> | undefined

  async function begin(): Promise<void> {
    await nextTurn()
    held = 0
    next = undefined
  }

  return {
    isFull: () => held >= TURN_MS,
    add(milliseconds) {
      held += milliseconds
    },
    next: () => (next ??= begin()),
  }
}
