import type { Test } from 'tap'
import { hostNamed } from '../../functions/domain/repository/hosts.ts'
import type { HTTPSettings } from '../../functions/http/http.ts'
import { makeApiLimits } from '../../functions/login/limits/api-limits.ts'
import { openProviders } from '../../functions/pull-request/provider-apis.ts'
import { startHost, type HostServer } from '../harness/hosts/host-server.ts'
import type { HostModel } from '../harness/hosts/model.ts'
import { settingsWith } from '../providers/port-stage.ts'

export const BRANCHES = { base: 'main', head: 'x', headOwner: undefined }

/** Whose API it is, and `spec.repository`. */
export interface Served {
  readonly dialect: Parameters<typeof startHost>[1]
  readonly name: string
  readonly shown: string
}

/** The thread, and the clock of the turns, in milliseconds. */
interface Surroundings extends Pick<HTTPSettings, 'calls' | 'reserve'> {
  readonly clock?: (host: HostServer) => number
}

/** Sessions with a host that serves this model, and the target and login for them. */
export async function callHost(
  t: Test,
  model: HostModel,
  { dialect, name, shown }: Served,
  { clock = () => performance.now(), ...thread }: Surroundings = {},
) {
  const host = await startHost(t, dialect, model)
  const provider = hostNamed(name)
  if (provider === undefined) throw new Error('There is no such host.')
  const limits = makeApiLimits(() => clock(host))
  const use = openProviders({ ...settingsWith(host.caFile), ...thread }, limits)
  const { baseURL } = host
  const repository = ['acme', 'shop']
  const target = { host: provider, baseURL, repository, shown, branches: BRANCHES, permit: () => undefined }
  const login = { username: undefined, secret: 'good-token', identity: 'x', secrets: ['good-token'] }
  return { host, use, target, login }
}
