import pino from 'pino'
import type { ApiLogin } from '../../functions/domain/credentials/login.ts'
import type { Change, Landed } from '../../functions/domain/commit/change.ts'
import type { Login } from '../../functions/domain/credentials/login.ts'
import { editText } from '../../functions/domain/edit/edit-text.ts'
import { NO_METER } from '../../functions/domain/telemetry/meter.ts'
import { NO_TRACER } from '../../functions/domain/telemetry/tracer.ts'
import type { ApiCaller, ApiTarget } from '../../functions/domain/pull-request/pull-requests.ts'
import { openClaimKeeper } from '../../functions/attempt/claim-keeper.ts'
import { openLeftAlone } from '../../functions/attempt/left-alone.ts'
import { divide } from '../../functions/attempt/turns/shares.ts'
import { shareSigning } from '../../functions/attempt/turns/shared-signing.ts'
import { shareThread } from '../../functions/attempt/turns/thread/thread-share.ts'
import { openTurns } from '../../functions/attempt/turns/turns.ts'
import { openLargeObjects } from '../../functions/commit/sources/large-objects.ts'
import { openFollowedObjects } from '../../functions/followed-objects.ts'
import { takeTurnsToFollow } from '../../functions/looks/follow-turns.ts'
import { shareLooks } from '../../functions/looks/look-share.ts'
import type { Attempt, AttemptSettings, World } from '../../functions/world.ts'
import type { MemoryCluster, StoredObject } from './memory-cluster.ts'
import { memoryCluster } from './memory-cluster.ts'
import type { MemoryPullRequests } from './memory-pull-requests.ts'
import { memoryPullRequests } from './memory-pull-requests.ts'

/** As in functions/main.ts, in a pod of 2 GiB. */
export const SHARES = divide({ memoryMiB: 2048, diskMiB: 1024, diskIsMemory: true }, 256)

/** The defaults of an operator who has set nothing. */
export const SETTINGS: AttemptSettings = {
  attemptDeadline: 120,
  retryLimit: 12,
  referenceScope: 'namespace',
  allowedRepositories: undefined,
  insecureHosts: [],
  delegation: { appliers: [], account: 'commitlet' },
  stampKey: undefined,
  requestedByTrailer: 'name',
  defaults: undefined,
  knownHosts: undefined,
  author: { name: 'Commitlet', email: 'commitlet@users.noreply.local' },
}

export interface Pushed {
  readonly change: Change
  readonly login: Login
  readonly signal: AbortSignal
}

/** A session with an API that was opened. */
export interface Opened {
  readonly target: ApiTarget
  readonly login: ApiLogin
  readonly sent?: ApiCaller['sent']
  readonly signal: AbortSignal
}

/** A world in memory. Pushes are kept; `land` decides how a push ends. */
export interface MemoryWorld extends World {
  readonly cluster: MemoryCluster
  readonly pushed: Pushed[]
  readonly logged: Record<string, unknown>[]
  land: (pushed: Pushed) => Promise<Landed>
  /** The one host of all pull requests, and each session with it. */
  readonly pullRequests: MemoryPullRequests
  readonly opened: Opened[]
}

/** A world with one Secret, one ConfigMap and a clock that is fixed at `now`. */
export function memoryWorld(now = new Date('2026-03-01T10:00:00Z')): MemoryWorld {
  const cluster = memoryCluster()
  cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name: 'git', namespace: 'team' },
    stringData: { token: 's3cr3t-token\n' },
  })
  cluster.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'shop', namespace: 'team' },
    data: { colour: 'blue' },
  })
  const logged: Record<string, unknown>[] = []
  const stream = { write: (line: string) => void logged.push(JSON.parse(line)) }
  let draws = 0
  const keepClaim = openClaimKeeper({ cluster, now: () => world.now(), elapsed: () => world.elapsed() })
  const world: MemoryWorld = {
    cluster,
    pushed: [],
    logged,
    land: () => Promise.resolve({ outcome: 'pushed', sha: 'a'.repeat(40), branch: 'main' }),
    // What does not land was refused.
    push(change, login, { signal, pushWatch }) {
      const pushed = { change, login, signal }
      world.pushed.push(pushed)
      pushWatch?.sent()
      const landing = world.land(pushed)
      void landing.then(
        () => pushWatch?.answered(true),
        () => pushWatch?.answered(false),
      )
      return landing
    },
    commitsByAPI: () => () => Promise.reject(new Error('There are no APIs here')),
    editFile: async (before, edit) => editText(before, edit),
    find: () => Promise.resolve(undefined),
    pullRequests: memoryPullRequests(),
    opened: [],
    withPullRequests(target, by, work) {
      world.opened.push({ target, ...by })
      return work(world.pullRequests)
    },
    appTokens: () => Promise.reject(new Error('There are no Apps here')),
    expect: () => () => undefined,
    takeTurn: openTurns(SHARES).takeTurn,
    workFor: shareThread().workFor,
    largeObjects: openLargeObjects(() => performance.now()),
    shareSigner: shareSigning(),
    now: () => now,
    elapsed: () => performance.now(),
    keepClaim: (...of) => keepClaim(...of),
    looks: { ask: () => false, add: () => undefined },
    leftAlone: openLeftAlone(() => world.elapsed()),
    inPace: (_namespace, work) => work(() => undefined),
    shareLook: shareLooks(() => world.elapsed()),
    turnToFollow: takeTurnsToFollow().turnToFollow,
    followed: openFollowedObjects(),
    // About the middle, and never the same microsecond of a second twice.
    random: () => (500_000.5 + draws++) / 1_000_000,
    log: pino({ level: 'info' }, stream),
    meter: NO_METER,
    tracer: NO_TRACER,
    settings: SETTINGS,
  }
  return world
}

/** A first attempt, as `attempt.ts` hands it to both functions; its turn is never given back. */
export const ATTEMPT: Attempt = {
  isRequested: false,
  again: false,
  signal: new AbortController().signal,
  saw: () => undefined,
  claim: { confirm: () => Promise.resolve(), remaining: () => Infinity },
  stillThere: () => Promise.resolve(),
  turn: { made: () => undefined, park: () => undefined, resume: () => Promise.resolve() },
}

/** The stamp of a developer, unsigned. */
export const STAMPED = {
  'commitlet.dev/requested-by': 'developer',
  'commitlet.dev/requester': '{"username":"developer","groups":["developers"]}',
}

/** A GitCommit of the ConfigMap that a memory world holds, stamped unless `annotations` says otherwise. */
export function gitCommit(spec: Readonly<Record<string, unknown>> = {}, annotations = {}): StoredObject {
  return {
    apiVersion: 'commitlet.dev/v1',
    kind: 'GitCommit',
    metadata: { name: 'shop', namespace: 'team', annotations: { ...STAMPED, ...annotations } },
    spec: {
      repository: 'https://git.example.com/acme/config.git',
      branch: 'main',
      message: 'Record the shop settings',
      credentials: { secretName: 'git', tokenKey: 'token' },
      resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'shop/settings.yaml' },
      ...spec,
    },
  }
}

/** A PullRequest feature → main on GitHub, stamped unless `annotations` says otherwise. */
export function pullRequest(spec: Readonly<Record<string, unknown>> = {}, annotations = {}): StoredObject {
  return {
    apiVersion: 'commitlet.dev/v1',
    kind: 'PullRequest',
    metadata: { name: 'shop', namespace: 'team', annotations: { ...STAMPED, ...annotations } },
    spec: {
      repository: 'https://github.com/acme/shop.git',
      baseBranch: 'main',
      headBranch: 'feature',
      title: 'New settings',
      credentials: { secretName: 'git', tokenKey: 'token' },
      ...spec,
    },
  }
}
