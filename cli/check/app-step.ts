import { asFailure, type Failure } from '../../functions/domain/failure.ts'
import type { World } from '../../functions/world.ts'
import { failed, type Step } from '../terminal/steps.ts'

/** What became of asking the host for the token of a GitHub App. */
export interface WatchedTokens {
  /** In place of that of the World. */
  readonly appTokens: World['appTokens']
  /** Whether this failure is the host's answer. */
  readonly ended: (failure: Failure | undefined) => boolean
  /** The step; none if no token was asked for. */
  readonly steps: () => readonly Step[]
}

/** Looks at what becomes of the tokens that an attempt asks for. */
export function watchTokens({ appTokens }: Pick<World, 'appTokens'>): WatchedTokens {
  const step = 'App'
  let seen: Step | undefined
  let refused: Failure | undefined
  return {
    async appTokens(request) {
      try {
        const issued = await appTokens(request)
        const text = `The host has issued a token to the GitHub App, for ${request.target.address.text} alone and with the permissions that a ${request.kind} needs.`
        seen = { step, state: 'good', text }
        return issued
      } catch (error) {
        refused = asFailure(error)
        seen = failed(step, refused)
        throw refused
      }
    },
    ended: (failure) => failure !== undefined && failure === refused,
    steps: () => (seen === undefined ? [] : [seen]),
  }
}
