import type { Test } from 'tap'
import { makeAuthority } from '../harness/certificates.ts'
import { startProxy } from '../harness/connect-proxy.ts'
import type { ConnectProxy } from '../harness/connect-proxy.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { startGitServer } from '../harness/git-server.ts'
import type { GitServer } from '../harness/git-server.ts'
import { install, TOKEN } from '../harness/installation.ts'
import type { Installation } from '../harness/installation.ts'

const PUBLIC = ['github.com', 'api.github.com', 'gitlab.com', 'bitbucket.org', 'api.bitbucket.org'] as const

/** A server that stands in for all public hosts, and Commitlet, whose proxy leads there. */
export interface PublicHosts {
  readonly server: GitServer
  readonly proxy: ConnectProxy
  readonly commitlet: Installation
}

/** Starts them; they end with the test. The server also has the `further` names, and that of this machine. */
export async function installAmongPublicHosts(
  t: Test,
  plane: ControlPlane,
  ...further: readonly string[]
): Promise<PublicHosts> {
  const names = [...PUBLIC, ...further]
  const server = await startGitServer({
    users: [{ password: TOKEN }],
    authority: await makeAuthority(),
    certificate: { names: ['localhost', ...names] },
  })
  t.teardown(() => server.close())
  const leads = Object.fromEntries(names.map((name) => [`${name}:443`, server.port]))
  const proxy = await startProxy({ leads })
  t.teardown(() => proxy.close())
  const commitlet = await install(t, plane, {
    functionEnv: { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}`, CA_FILE: server.caFile },
    webhookEnv: { SWEEP_INTERVAL: '1' },
  })
  return { server, proxy, commitlet }
}
