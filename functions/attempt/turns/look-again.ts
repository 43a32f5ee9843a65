/** How often a lane is looked at, in milliseconds. */
const LOOK_MS = 250

/** Returns a function that begins to look, every 250 ms for as long as it is needed, and does nothing where that goes on already. */
export function lookAgain({
  isNeeded,
  look,
}: {
  readonly isNeeded: () => boolean
  readonly look: () => void
}): () => void {
  let timer: NodeJS.Timeout | undefined
  return function watch(): void {
    if (timer !== undefined || !isNeeded()) return
    timer = setTimeout(() => {
      timer = undefined
      look()
      watch()
    }, LOOK_MS).unref()
  }
}
