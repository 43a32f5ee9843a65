import type { ApiServer } from '../../functions/cluster/api-server.ts'
import { bodyOf } from '../../functions/cluster/calls/answer.ts'
import { elements, member, textMember } from '../../functions/domain/json-value.ts'
import type { Step } from '../terminal/steps.ts'

/** What the parts of an installation are looked at with. */
export interface Installed {
  readonly server: ApiServer
  readonly systemNamespace: string
  /** The version of this command. */
  readonly version: string
  readonly now: Date
}

/** `missing`: it is not there; `refused`: you may not read it. */
export type Read = { readonly object: unknown } | 'missing' | 'refused'

/** Reads one object. Throws the Failure of an API server that does not answer. */
export async function read({ server }: Pick<Installed, 'server'>, path: string): Promise<Read> {
  const answer = await server({ method: 'GET', path })
  if (answer.status === 404) return 'missing'
  if (answer.status === 403) return 'refused'
  return { object: bodyOf(answer, path) }
}

/** The items of a list; undefined: you may not list them, or the kind is not there. */
export async function list(
  { server }: Pick<Installed, 'server'>,
  path: string,
): Promise<readonly unknown[] | undefined> {
  const answer = await server({ method: 'GET', path })
  if (answer.status === 403 || answer.status === 404) return undefined
  return elements(member(bodyOf(answer, path), 'items'))
}

/** The value at a path of members. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce(member, value)
}

/** The variables of the first container of a pod's template. */
export function environmentOf(template: unknown): ReadonlyMap<string, string> {
  const variables = elements(member(elements(member(template, 'containers'))[0], 'env'))
  return new Map(variables.map((one) => [textMember(one, 'name') ?? '', textMember(one, 'value') ?? '']))
}

export function good(step: string, text: string): Step {
  return { step, state: 'good', text }
}

export function wrong(step: string, text: string): Step {
  return { step, state: 'wrong', text }
}

export function unseen(step: string, text: string): Step {
  return { step, state: 'unseen', text }
}

/** What you may not read cannot be looked at. */
export function refused(step: string, what: string): Step {
  return {
    ...unseen(step, `You may not read ${what}; ask for that right, or let an operator run this.`),
    needed: true,
  }
}
