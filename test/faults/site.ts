import type { Test } from 'tap'
import type { ControlPlane } from '../harness/control-plane.ts'
import type { GitRepository } from '../harness/git-repository.ts'
import { github } from '../harness/hosts/github.ts'
import {
  configMap,
  gitCommit,
  install,
  TOKEN,
  type Installation,
  type Team,
} from '../harness/installation.ts'
import type { Program } from '../harness/programs.ts'
import { hostRepository, type HostedRepository } from '../e2e/pull-request-stage.ts'
import type { Sizes } from './schedule.ts'

/** A namespace with a repository for commits, and one with a host's API for pull requests. */
export interface Place {
  readonly team: Team
  readonly repository: GitRepository
  readonly hosted: HostedRepository
}

/** An installation to which faults happen. */
export interface Site {
  readonly plane: ControlPlane
  readonly commitlet: Installation
  readonly places: readonly Place[]
  /** Those that run. */
  readonly programs: { function: Program; webhook: Program }
}

/** A resource that is applied. */
export interface Order {
  readonly place: Place
  readonly kind: 'GitCommit' | 'PullRequest'
  readonly name: string
  readonly object: object
}

const BASE = 'main'
const SECRETS = ['git', 'host']

/** Installs Commitlet with short sweeps; an attempt at a server that hangs ends after 15 s. */
export async function openSite(
  t: Pick<Test, 'teardown'>,
  plane: ControlPlane,
  { repositories }: Pick<Sizes, 'repositories'>,
): Promise<Site> {
  const commitlet = await install(t, plane, {
    functionEnv: { ATTEMPT_DEADLINE: '15' },
    webhookEnv: { SWEEP_INTERVAL: '5', SWEEP_FULL_INTERVAL: '20' },
  })
  const places = await Promise.all(
    Array.from({ length: repositories }, (_, index) => placeOf(commitlet, index)),
  )
  const { webhook } = commitlet
  return { plane, commitlet, places, programs: { function: commitlet.function, webhook } }
}

async function placeOf(commitlet: Installation, index: number): Promise<Place> {
  const { git } = commitlet
  const team = await commitlet.createTeam({ secrets: SECRETS })
  const repository = await git.createRepository(`${team.namespace}/config`)
  // A host gets one request of a token after the other.
  const token = `${TOKEN}-${index}`
  const hosted = await hostRepository(
    git,
    { dialect: github, path: `${team.namespace}/shop` },
    { tokens: [token] },
  )
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'host' }, stringData: { token } }
  await team.apply(configMap(), secret)
  return { team, repository, hosted }
}

/** What is applied: to each place in turn, pull requests between the commits. */
export async function ordersOf({ places }: Site, sizes: Sizes): Promise<readonly Order[]> {
  const placeAt = (index: number): Place => {
    const place = places[index % places.length]
    if (place === undefined) throw new Error('There is no place.')
    return place
  }
  const commits = Array.from({ length: sizes.commits }, (_, index) => commitOf(placeAt(index), index))
  const pulls = Array.from({ length: sizes.pullRequests }, (_, index) => pullOf(placeAt(index), index))
  for (const place of places)
    await makeHeads(
      place,
      pulls.filter((pull) => pull.place === place).map(({ name }) => name),
    )
  const every = Math.max(1, Math.floor(commits.length / Math.max(1, pulls.length)))
  const between = commits.flatMap((commit, index) =>
    index % every === 0 ? [commit, ...pulls.splice(0, 1)] : [commit],
  )
  return [...between, ...pulls]
}

function commitOf(place: Place, index: number): Order {
  const name = `commit-${index}`
  const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: `shop/${name}.yaml` }
  const object = gitCommit(name, place.repository.url, { branch: BASE, message: name, resourceRef })
  return { place, kind: 'GitCommit', name, object }
}

function pullOf(place: Place, index: number): Order {
  const name = `pull-${index}`
  const credentials = { secretName: 'host', tokenKey: 'token' }
  const object = place.hosted.pullRequest(name, { headBranch: name, title: name, credentials })
  return { place, kind: 'PullRequest', name, object }
}

/** The heads are at one commit, made by one git. */
async function makeHeads({ hosted }: Place, names: readonly string[]): Promise<void> {
  const [first, ...others] = names
  if (first === undefined) return
  const commit = await hosted.repository.commit(first, { 'settings.yaml': 'colour: blue\n' })
  for (const name of others) await hosted.repository.git('update-ref', `refs/heads/${name}`, commit)
}
