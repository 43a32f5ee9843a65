import { asFailure, type Failure } from '../../functions/domain/failure.ts'
import type { PullRequests, ShownPullRequest } from '../../functions/domain/pull-request/pull-requests.ts'
import type { SoundPullRequest } from '../../functions/domain/schema/parse.ts'
import { openPullRequest } from '../../functions/pull-request/open-pull-request.ts'
import type { World } from '../../functions/world.ts'
import type { Site } from '../local/site.ts'
import { failed, type Step } from '../terminal/steps.ts'
import { watchTokens } from './app-step.ts'
import { secretStep } from './reading-steps.ts'
import { destinationOf } from './api-steps.ts'
import { notReached, routeSteps } from './remote-steps.ts'

/** An attempt at a pull request, with the API's answers and without its writes. */
export async function walkPullRequest(resource: SoundPullRequest, site: Site): Promise<readonly Step[]> {
  const attempt = site.attempt(false)
  let remote: readonly Step[] | undefined
  const said: string[] = []
  const tokens = watchTokens(site.world)
  const world: World = {
    ...site.world,
    appTokens: tokens.appTokens,
    async withPullRequests(target, by, work) {
      const { steps, failure } = await routeSteps(destinationOf(target.baseURL), site, attempt.signal)
      remote = steps
      if (failure !== undefined) throw failure
      return site.world.withPullRequests(target, by, (pullRequests) =>
        work(withoutWrites(pullRequests, said)),
      )
    },
  }
  const failure = await openPullRequest(resource, world, attempt).then(({ message }) => {
    // What would be opened has no number yet.
    if (said.length === 0) said.push(message)
    return undefined
  }, asFailure)
  if (tokens.ended(failure))
    return [secretStep(resource, undefined), ...tokens.steps(), notReached('log-in', 'the App')]
  if (remote === undefined) return [secretStep(resource, failure), notReached('log-in', 'the Secret')]
  return [secretStep(resource, undefined), ...tokens.steps(), ...remote, ...callSteps(remote, failure, said)]
}

function callSteps(
  remote: readonly Step[],
  failure: Failure | undefined,
  said: readonly string[],
): readonly Step[] {
  if (remote.some(({ state }) => state === 'wrong')) return [notReached('API', 'the address')]
  if (failure !== undefined) return [failed('API', failure)]
  return [{ step: 'API', state: 'good', text: `The API answers. ${said.join(' ')}` }]
}

/** What is found is real; what would be written is noted. */
function withoutWrites(pullRequests: PullRequests, said: string[]): PullRequests {
  return {
    find: (branches, among, keep) => pullRequests.find(branches, among, keep),
    read: (number, branches) => pullRequests.read(number, branches),
    create({ title, body }) {
      said.push('A pull request would be opened.')
      const opened: ShownPullRequest = { number: 0, url: '', state: 'open', title, body }
      return Promise.resolve(opened)
    },
    update({ number }) {
      said.push(`Title and body of #${number} would be changed.`)
      return Promise.resolve()
    },
    add: () => Promise.resolve([]),
  }
}
