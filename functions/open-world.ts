import type { Logger } from 'pino'
import { handle } from './attempt/attempt.ts'
import { openClaimKeeper } from './attempt/claim-keeper.ts'
import { paceFailing } from './attempt/failing-pace.ts'
import { openLeftAlone } from './attempt/left-alone.ts'
import type { Find } from './attempt/find.ts'
import { shareSigning } from './attempt/turns/shared-signing.ts'
import type { Turns } from './attempt/turns/turns.ts'
import type { Cluster } from './cluster/cluster.ts'
import type { Config } from './config.ts'
import type { ThreadShares } from './domain/network/share.ts'
import type { Meter } from './domain/telemetry/meter.ts'
import { openLargeObjects } from './commit/sources/large-objects.ts'
import { openEdits } from './edits/edits.ts'
import type { Tracer } from './domain/telemetry/tracer.ts'
import type { Git } from './git/git.ts'
import type { HTTPSettings } from './http/http.ts'
import { makeApiLimits } from './login/limits/api-limits.ts'
import { keepTokens } from './login/app-tokens.ts'
import { guardRemotes } from './login/guarded-remotes.ts'
import { openHostCommits } from './login/host-commits.ts'
import { openIssuers } from './login/token-issuers.ts'
import { openFollowedObjects } from './followed-objects.ts'
import { openLooks } from './looks/looks.ts'
import { takeTurnsToFollow } from './looks/follow-turns.ts'
import { shareLooks } from './looks/look-share.ts'
import { openProviders } from './pull-request/provider-apis.ts'
import { openMachineClock } from './machine-clock.ts'
import type { World } from './world.ts'

/** What a World is made of. */
export interface WorldParts {
  readonly cluster: Cluster
  readonly git: Pick<Git, 'push' | 'find' | 'expect'>
  readonly turns: Pick<Turns, 'takeTurn' | 'acquireEdit' | 'mostEditMiB'>
  /** How the hosts' APIs are reached. */
  readonly network: HTTPSettings
  /** The shares of the namespaces in the thread. */
  readonly share: ThreadShares
  /** How the looks find the resource whose object has changed. */
  readonly find: Find
  readonly config: Config
  readonly log: Logger
  readonly meter: Meter
  readonly tracer: Tracer
}

/** A World, and its end, which waits for the attempts that its looks have started. */
export interface OpenWorld {
  readonly world: World
  readonly close: () => Promise<void>
}

/** Puts together what attempts use, with its guards and looks. Takes no call. */
export function openWorld(parts: WorldParts): OpenWorld {
  const { cluster, git, turns, share, find, config, log, meter, tracer } = parts
  const network = { ...parts.network, calls: share, reserve: share.reserve }
  const now = (): Date => cluster.now()
  const elapsed = openMachineClock()
  const looks = openLooks({
    cluster,
    wake: (ref, awaited) => handle(ref, find, world, awaited),
    now,
    elapsed,
    stampKey: config.stampKey,
    log,
  })
  const apiLimits = makeApiLimits(elapsed)
  const { issueToken, ...remotes } = guardRemotes(
    {
      push: (change, login, { signal, ...terms }) => git.push(change, login, signal, terms),
      find: (change, login, { signal, ...terms }) => git.find(change, login, signal, terms),
      withPullRequests: openProviders(network, apiLimits, meter),
      issueToken: openIssuers(network, { now, meter, shares: apiLimits }),
    },
    { failedLogins: config.failedLogins, elapsed, isOwnLimit: apiLimits.isOwn },
  )
  const edits = openEdits({ acquire: turns.acquireEdit, mostMiB: turns.mostEditMiB, share })
  const failing = paceFailing()
  const follow = takeTurnsToFollow()
  const world: World = {
    cluster,
    ...remotes,
    appTokens: keepTokens(issueToken, elapsed),
    commitsByAPI: openHostCommits(network, apiLimits, meter),
    expect: (change) => git.expect(change),
    editFile: edits.edit,
    takeTurn: turns.takeTurn,
    workFor: share.workFor,
    largeObjects: openLargeObjects(elapsed),
    shareSigner: shareSigning(),
    now,
    elapsed,
    keepClaim: openClaimKeeper({ cluster, now, elapsed }),
    looks,
    leftAlone: openLeftAlone(elapsed),
    inPace: failing.inPace,
    shareLook: shareLooks(elapsed),
    turnToFollow: follow.turnToFollow,
    followed: openFollowedObjects(),
    random: Math.random,
    log,
    meter,
    tracer,
    settings: config,
  }
  async function close(): Promise<void> {
    failing.close()
    follow.close()
    await looks.close()
    await edits.close()
  }
  return { world, close }
}
