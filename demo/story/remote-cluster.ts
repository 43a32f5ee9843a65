import { type ChildProcess } from 'node:child_process'
import type { Cluster } from '../../functions/cluster/cluster.ts'
import { CONFLICT } from '../../functions/cluster/cluster.ts'
import { asFailure, Failure } from '../../functions/domain/failure.ts'
import type { FailureReason } from '../../functions/domain/reasons.ts'

/** The calls of the port that are asked of the other process; its time is passed when the process starts. */
type Method = Exclude<keyof Cluster, 'now'>

interface Question {
  readonly id: number
  readonly method: Method
  readonly args: readonly unknown[]
}

/** Symbols and classes do not travel. */
type Answer = { readonly id: number } & (
  | { readonly value: unknown }
  | { readonly conflict: true }
  | { readonly failure: { readonly reason: FailureReason; readonly message: string } }
)

/** What both ends of the channel have: a child process, and `process` in the child. */
type Channel = Pick<NodeJS.Process, 'send' | 'on'>

/** Answers the calls of a child process from this cluster, until the child ends. */
export function serveCluster(child: ChildProcess, cluster: Cluster): void {
  child.on('message', (message: Partial<Question>) => {
    const { id, method, args = [] } = message
    if (id === undefined || method === undefined) return
    const calls: Readonly<Record<Method, (...args: never[]) => Promise<unknown>>> = cluster
    void calls[method](...(args as never[]))
      .then((value): Answer => (value === CONFLICT ? { id, conflict: true } : { id, value }))
      .catch((error: unknown): Answer => {
        const { reason, message } = asFailure(error)
        return { id, failure: { reason, message } }
      })
      .then((answer) => child.connected && child.send(answer, () => undefined))
  })
}

/** The cluster of the parent process; its time is this machine's and `aheadMs`. */
export function parentsCluster(channel: Channel, aheadMs: number): Cluster {
  const asked = new Map<number, PromiseWithResolvers<unknown>>()
  let last = 0
  channel.on('message', (answer: Answer) => {
    const question = asked.get(answer.id)
    asked.delete(answer.id)
    if ('failure' in answer) question?.reject(new Failure(answer.failure.reason, answer.failure.message))
    else question?.resolve('conflict' in answer ? CONFLICT : answer.value)
  })
  function ask<M extends Method>(method: M): Cluster[M] {
    const call = (...args: readonly unknown[]): Promise<unknown> => {
      const question = Promise.withResolvers<unknown>()
      asked.set((last += 1), question)
      channel.send?.({ id: last, method, args })
      return question.promise
    }
    return call as Cluster[M]
  }
  return {
    now: () => new Date(Date.now() + aheadMs),
    readResource: ask('readResource'),
    readObject: ask('readObject'),
    discover: ask('discover'),
    // Its reader has functions, which do not travel.
    readSecret: (namespace, name) => ask('readSecret')(namespace, name),
    readVersion: ask('readVersion'),
    reviewAccess: ask('reviewAccess'),
    knowsRights: ask('knowsRights'),
    patchStatus: ask('patchStatus'),
    listPage: ask('listPage'),
    listUnsettled: ask('listUnsettled'),
    recordEvent: ask('recordEvent'),
    flushEvents: ask('flushEvents'),
  }
}
