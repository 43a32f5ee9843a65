import type { Test } from 'tap'
import { makeApiLimits } from '../../../functions/login/limits/api-limits.ts'
import { openProviders } from '../../../functions/pull-request/provider-apis.ts'
import type { WithPullRequests } from '../../../functions/domain/pull-request/pull-requests.ts'
import { makeHostTrust } from '../../harness/hosts/host-server.ts'
import type { HostTrust } from '../../harness/hosts/host-server.ts'
import { settingsWith } from '../port-stage.ts'

/** What all stages of a test share: two processes of Commitlet, and the authority that they trust. */
export interface Site {
  readonly trust: HostTrust
  /** Milliseconds, as both read them. */
  readonly clock: { now: number }
  readonly here: WithPullRequests
  readonly elsewhere: WithPullRequests
}

/** Opens them once, because reading the system's authorities takes longer than a case. */
export async function startSite(t: Test): Promise<Site> {
  const trust = await makeHostTrust(t)
  const clock = { now: Date.now() }
  const settings = settingsWith(trust.caFile)
  const open = (): WithPullRequests =>
    openProviders(
      settings,
      makeApiLimits(() => clock.now),
    )
  return { trust, clock, here: open(), elsewhere: open() }
}
