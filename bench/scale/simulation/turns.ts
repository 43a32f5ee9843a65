import type { Turns } from './world.ts'

/** The turns of a pod: who has to wait is served in the order of the calls, except where a namespace has its share. */
export function makeTurns({ total, perNamespace }: Turns): {
  readonly acquire: (namespace: string, start: (release: () => void) => void) => void
} {
  const held = new Map<string, number>()
  let waiting: { readonly namespace: string; readonly start: (release: () => void) => void }[] = []
  let all = 0

  function mayStart(namespace: string): boolean {
    return all < total && (held.get(namespace) ?? 0) < perNamespace
  }

  function take(namespace: string, step: 1 | -1): void {
    all += step
    held.set(namespace, (held.get(namespace) ?? 0) + step)
  }

  function acquire(namespace: string, start: (release: () => void) => void): void {
    if (!mayStart(namespace)) {
      waiting.push({ namespace, start })
      return
    }
    take(namespace, 1)
    start(() => {
      take(namespace, -1)
      const next = waiting.find((waiter) => mayStart(waiter.namespace))
      if (next === undefined) return
      waiting = waiting.filter((waiter) => waiter !== next)
      acquire(next.namespace, next.start)
    })
  }

  return { acquire }
}
