import pino from 'pino'
import { anySignal } from '../../functions/domain/deadline.ts'
import { finder } from '../../functions/attempt/find.ts'
import { shareHandshakes } from '../../functions/attempt/turns/thread/handshake-share.ts'
import { divide } from '../../functions/attempt/turns/shares.ts'
import { shareThread } from '../../functions/attempt/turns/thread/thread-share.ts'
import { openTurns } from '../../functions/attempt/turns/turns.ts'
import type { Cluster } from '../../functions/cluster/cluster.ts'
import type { Config } from '../../functions/config.ts'
import { NO_METER } from '../../functions/domain/telemetry/meter.ts'
import { NO_TRACER } from '../../functions/domain/telemetry/tracer.ts'
import { openGit, type Git } from '../../functions/git/git.ts'
import type { HTTPSettings } from '../../functions/http/http.ts'
import { guardAddresses } from '../../functions/net/addresses.ts'
import { followTrust } from '../../functions/net/trust.ts'
import { openWorld } from '../../functions/open-world.ts'
import { readPodSize } from '../../functions/pod-size.ts'
import type { Attempt, World } from '../../functions/world.ts'

/** What the function works with, opened on this machine. */
export interface Site {
  readonly world: World
  readonly git: Git
  readonly network: HTTPSettings
  readonly config: Config
  /** An attempt of this machine: nobody else claims the resource. Ends when the command is stopped, or at its deadline. */
  readonly attempt: (again: boolean) => Attempt
  readonly close: () => Promise<void>
}

/** Opens a World as functions/main.ts does, without its server. Takes no call. `stop`: ends every attempt. */
export function openSite(cluster: Cluster, config: Config, stop: AbortSignal): Site {
  const network = {
    resolve: guardAddresses(config.surroundings),
    proxies: config.proxies,
    insecureHosts: config.insecureHosts,
    handshakes: shareHandshakes(shareThread()),
    trust: followTrust(config.caFile),
  }
  const shares = divide(readPodSize(config.tempDir), config.fetchLimit)
  const turns = openTurns(shares)
  const git = openGit({
    ...network,
    tempDir: config.tempDir,
    ...(process.env['PATH'] === undefined ? {} : { path: process.env['PATH'] }),
    fetchLimitMiB: shares.largeLimits.fileMiB,
    memoryMiB: shares.largeLimits.memoryMiB,
    deadlineSeconds: config.attemptDeadline,
    acquireSession: turns.acquireSession,
    acquireLarge: turns.acquireLarge,
    engine: config.gitEngine,
  })
  const find = finder(cluster, { reads: 1, waits: 1 })
  // A command prints what it finds; what the function logs is for operators.
  const log = pino({ level: 'silent' })
  const share = shareThread()
  const parts = { cluster, git, turns, network, share, find, config, log, meter: NO_METER, tracer: NO_TRACER }
  const { world, close } = openWorld(parts)
  return {
    world,
    git,
    network,
    config,
    attempt: (again) => ({
      isRequested: false,
      again,
      signal: anySignal([stop, AbortSignal.timeout(config.attemptDeadline * 1000)]),
      stillThere: () => Promise.resolve(),
      claim: { confirm: () => Promise.resolve(), remaining: () => Infinity },
      saw: () => undefined,
      turn: { made: () => undefined, park: () => undefined, resume: () => Promise.resolve() },
    }),
    async close() {
      await close()
      await git.close()
      turns.close()
    },
  }
}
