import type { ApiCall } from '../../functions/cluster/api-server.ts'
import { isRecord } from '../../functions/domain/json-value.ts'
import { answered, dateAt, type Answered, type Store } from './cluster-store.ts'
import type { Call } from './parts/program.ts'
import type { PushRequest } from './parts/remote-session.ts'
import type { State } from './system.ts'

/** A call in common names. */
export interface Sent {
  readonly kind: Call['kind']
  readonly text: string
}

/** Whether it changes something. */
export function isMutation(kind: Call['kind']): boolean {
  return kind === 'write' || kind === 'push'
}

/** What the cluster or the remote does with a call, and answers. */
export function carryOut(
  state: State,
  { kind, text }: Sent,
): { readonly state: State; readonly answer: string } {
  if (kind === 'tip') return { state, answer: JSON.stringify(state.branch) }
  if (kind === 'ref') return { state, answer: state.branch.at(-1)?.name ?? '' }
  if (kind === 'push') {
    const request: PushRequest = JSON.parse(text)
    if (request.lease !== state.branch.at(-1)?.name) return { state, answer: 'race' }
    return { state: { ...state, branch: [...state.branch, ...request.commits] }, answer: 'landed' }
  }
  const { store, answer } = carriedOutOnce(state.store, text)
  return { state: { ...state, store }, answer: JSON.stringify({ ...answer, date: dateAt(state.second) }) }
}

const carriedOut = new WeakMap<Store, Map<string, Answered>>()

/** The same call at the same state of the store has the same end. */
function carriedOutOnce(store: Store, text: string): Answered {
  const known = carriedOut.get(store) ?? new Map<string, Answered>()
  carriedOut.set(store, known)
  const answer = known.get(text) ?? answered(store, callIn(text))
  known.set(text, answer)
  return answer
}

function callIn(text: string): ApiCall {
  const call: unknown = JSON.parse(text)
  if (!isRecord(call)) throw new Error('A call of ours is an object')
  const { method, path, body } = call
  if (method !== 'GET' && method !== 'PATCH') throw new Error('There are no other calls')
  return { method, path: String(path), body }
}

/** Another writer: a commit that overwrites our file. */
export function withOther(state: State): State {
  const made = state.made + 1
  const commit = { name: nameOf(made), id: '', version: 0, blob: `blob ${made}` }
  return { ...state, made, branch: [...state.branch, commit] }
}

export function nameOf(number: number): string {
  return `c${String(number).padStart(11, '0')}${'0'.repeat(28)}`
}
