/** The differences between hosts that the contract allows. */
export interface Traits {
  /**
   * Two processes that create at the same moment. `one`: the host opens one and says so to the other. `last`: it
   * opens one, and the second takes title and body over (Bitbucket). `two`: it opens both, because it looks and
   * inserts in two steps (Gitea).
   */
  readonly race: 'one' | 'last' | 'two'
  /** A repository that was renamed is followed by its id, or its new place is named, or only that it has moved. */
  readonly moved: 'followed' | 'named' | 'told'
}

/** A row per host. */
export const TRAITS: Readonly<Record<string, Traits>> = {
  github: { race: 'one', moved: 'followed' },
  gitlab: { race: 'one', moved: 'followed' },
  bitbucket: { race: 'last', moved: 'told' },
  gitea: { race: 'two', moved: 'named' },
}

/** Two users that the host knows, where they are not called dev and ops there. */
export const PEOPLE: Readonly<Record<string, readonly [string, string]>> = {
  bitbucket: ['{11111111-2222-3333-4444-555555555555}', '{66666666-7777-8888-9999-000000000000}'],
}
