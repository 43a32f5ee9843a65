import type { ObjectRef } from '../resource/resource.ts'

/** An object that resources of Commitlet may refer to, or a Secret that they may name. */
export interface OtherObject {
  /** Absent for a cluster-scoped object. */
  readonly namespace?: string
  readonly name: string
}

/** Objects of one namespace, or of none, that are said to have changed. */
export interface NamedTogether {
  readonly namespace?: string
  readonly names: readonly string[]
}

/**
 * What an event asks for: to look at a resource of Commitlet, at the resources that wait for an object, or at all
 * resources. Never more than a hint: whoever follows it reads from the API server what there is to do.
 */
export type Hint =
  | { readonly about: 'resource'; readonly ref: ObjectRef }
  | { readonly about: 'object'; readonly object: OtherObject }
  | { readonly about: 'everything' }

/** What a request brought. */
export interface Posted {
  /** `watched`: an event whose sender tells of one change after the other, and of no other one before it is answered. */
  readonly form: 'event' | 'watched' | 'batch' | 'list'
  readonly hints: readonly Hint[]
  /** Entries of a list that were too large to be read. */
  readonly skipped: number
}
