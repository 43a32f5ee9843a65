import type { Test } from 'tap'
import { ACCOUNTS } from './accounts.ts'
import { installObjects } from './commitlet.ts'
import { startProxy } from './connect-proxy.ts'
import { REQUIRED, type ControlPlane } from './control-plane.ts'
import { install, type Installation } from './installation.ts'
import { mountedFor, mounting, obstacle, type Mounted } from './mounted-account.ts'

/** Commitlet with what pods have mounted and nothing else. */
export interface Pods {
  readonly commitlet: Installation
  readonly mounted: { readonly function: Mounted; readonly webhook: Mounted }
}

/**
 * Installs both programs as pods have them: logged in by a mounted service account, in a cluster. Undefined: only root may
 * mount that, which the test says then; an error where the control plane is required.
 */
export async function installPods(
  t: Test,
  plane: ControlPlane,
  webhookEnv: Readonly<Record<string, string>>,
): Promise<Pods | undefined> {
  const home = t.testdir({})
  const why = await obstacle(home)
  if (why !== undefined && REQUIRED in process.env) throw new Error(why)
  if (why !== undefined) {
    process.stderr.write(`SKIPPED: ${why}\n`)
    t.pass('a mounted service account', { skip: why })
    return undefined
  }
  await installObjects(plane)
  const mounted = {
    function: await mountedFor(t, plane, ACCOUNTS.function),
    webhook: await mountedFor(t, plane, ACCOUNTS.webhook),
  }
  // A pod reaches a Git server on this machine only through a proxy: loopback is forbidden in a cluster.
  const proxy = await startProxy()
  t.teardown(() => proxy.close())
  const { hostname, port } = new URL(plane.url)
  const pod = { HOME: home, KUBERNETES_SERVICE_HOST: hostname, KUBERNETES_SERVICE_PORT: port }
  const commitlet = await install(t, plane, {
    by: { function: mounting(mounted.function.folder), webhook: mounting(mounted.webhook.folder) },
    functionEnv: { ...pod, HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` },
    webhookEnv: { ...pod, ...webhookEnv },
  })
  return { commitlet, mounted }
}
