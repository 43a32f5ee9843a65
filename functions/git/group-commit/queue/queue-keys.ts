import { digestOf } from '../../../domain/credentials/digest.ts'
import { editedPaths, MOST_EDITED, type Waiter } from './branch-queue.ts'

/**
 * Whether only changes of the same namespace wait with it: others would wait for its signatures, its files, its search in the
 * history or a commit by the API each time, or fail because the values of its Secret must not be shown.
 */
export function isOfOneNamespace({ pending }: Pick<Waiter, 'pending'>): boolean {
  const { signer, since, commitByAPI } = pending.change
  const isSigned = signer?.isSlow === true || signer?.ofSecret === true
  const isLarge = editedPaths({ pending }).length > MOST_EDITED
  return isSigned || isLarge || since !== undefined || commitByAPI !== undefined
}

const made = new WeakMap<Waiter, string>()

/**
 * The key of a queue that the namespaces of a login share. Short, because an address may have 2,048 characters, and made once: each
 * push asks for those of all that wait.
 */
export function keyOf(waiter: Waiter): string {
  const { pending, login } = waiter
  const { repository, branch, commitByAPI } = pending.change
  const key =
    made.get(waiter) ?? digestOf(repository.text, branch ?? null, login.identity, commitByAPI !== undefined)
  made.set(waiter, key)
  return key
}

/** The key of a queue that a part of them shares. */
export function partKey(waiter: Waiter, part: string): string {
  // No namespace has such a name.
  return `${keyOf(waiter)} (${part})`
}

/** The key of a queue for its namespace alone. */
export function apartKey(waiter: Waiter): string {
  return `${keyOf(waiter)} ${namespaceOf(waiter)}`
}

export function namespaceOf({ pending }: Pick<Waiter, 'pending'>): string {
  return pending.change.namespace
}
