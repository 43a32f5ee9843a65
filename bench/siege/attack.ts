import type { ApiAnswer, ApiCall } from '../../functions/cluster/api-server.ts'
import type { Authority } from '../../test/harness/certificates.ts'

/** A call of the API server; Commitlet itself deletes nothing. */
export type AttackerCall = Omit<ApiCall, 'method'> & { readonly method: ApiCall['method'] | 'DELETE' }

/** What an attacker has: a namespace like any tenant's, the addresses of both programs, and servers of their own. */
export interface Arena {
  readonly functionURL: string
  readonly webhookURL: string
  /** Signs certificates that the function trusts, as a public authority does. */
  readonly authority: Authority
  /** The attacker's own, the first of `namespaces`; its Secret `git` holds TOKEN of the harness under the key `token`. */
  readonly namespace: string
  /** All that the attacker has, which are alike. */
  readonly namespaces: readonly string[]
  /** The API server, as somebody who may do everything in them. */
  readonly api: (call: AttackerCall) => Promise<ApiAnswer>
  /** Creates an object in the namespace, or in another one of the attacker's; returns the status of the response. */
  readonly create: (object: object, inNamespace?: string) => Promise<number>
}

/**
 * One attack. To add one, write a module in attacks/ and name it in attacks.ts. `run` attacks until the signal fires,
 * ends what it has started, and returns in a few words what it did. It runs in a process of its own.
 */
export interface Attack {
  /** Also the value of `--only`: lower case, with dashes. */
  readonly name: string
  /** Names of the Secrets in the attacker's namespace that the function may read. */
  readonly secrets: readonly string[]
  /** How many the attacker has; default: one. */
  readonly namespaces?: number
  readonly run: (arena: Arena, signal: AbortSignal) => Promise<string>
}

/** Works in some parallel loops until the signal fires. An error, such as a connection that is cut, ends no loop. */
export async function inLoops(
  loops: number,
  signal: AbortSignal,
  work: (loop: number) => Promise<unknown>,
): Promise<void> {
  async function repeat(loop: number): Promise<void> {
    while (!signal.aborted) await work(loop).catch(() => breathe(signal))
  }
  await Promise.all(Array.from({ length: loops }, (_, loop) => repeat(loop)))
}

/** Waits a little, or until the signal fires. */
export async function breathe(signal: AbortSignal, milliseconds = 100): Promise<void> {
  if (signal.aborted) return
  await new Promise<void>((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, milliseconds)
    signal.addEventListener('abort', done)
  })
}
