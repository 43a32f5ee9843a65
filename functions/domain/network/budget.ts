/** Returns what was taken to the budget; a second call does nothing. */
export type Release = () => void
