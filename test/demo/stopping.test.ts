import { chmod, cp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { SHARED } from '../harness/control-plane.ts'
import { sample } from '../harness/sample.ts'
import { waitFor } from '../harness/wait.ts'
import { folderWith, startDemo, type RunningDemo } from './run-demo.ts'

const STARTED = 60_000
/** Idle it takes less than a second. */
const ENDED = 20_000
const NOTHING = { [SHARED]: undefined, KUBEBUILDER_ASSETS: undefined, TEST_ASSET_KUBECTL: undefined }
/** Like a server that never gets ready, or a Go build: only SIGINT and SIGKILL end it. */
const ENDLESS = '#!/bin/sh\ntrap "" TERM HUP\nexec sleep 600\n'

async function endless(folder: string, name: string): Promise<string> {
  const file = join(folder, name)
  await writeFile(file, ENDLESS)
  await chmod(file, 0o755)
  return file
}

/** Stops the demo once the endless program runs, and waits until everything is gone. */
async function end(demo: RunningDemo, stop: () => void): Promise<void> {
  const look = async (): Promise<true | undefined> =>
    (await demo.leftovers()).some((line) => line.includes('sleep 600')) || undefined
  const running = waitFor('program that goes on', look, STARTED)
  await Promise.race([running, demo.ended])
  stop()
  await demo.nothingLeft(ENDED)
}

const signals = [
  ['demo', 'SIGHUP', 'node'],
  ['demo', 'SIGTERM', 'npm'],
  ['demo', 'SIGHUP', 'npm'],
  ['demo', 'SIGTERM', 'its process group'],
  ['test', 'SIGINT', 'node'],
  ['test', 'SIGTERM', 'npm'],
  ['test', 'SIGHUP', 'npm'],
] as const
for (const [script, signal, to] of sample(signals, ([script]) => script)) {
  t.test(`${script}: ${signal} to ${to} while the API server starts leaves nothing`, async (t) => {
    const server = await endless(t.testdir({}), 'server')
    const assets = { TEST_ASSET_KUBECTL: server, TEST_ASSET_ETCD: server, TEST_ASSET_KUBE_APISERVER: server }
    const args = script === 'demo' ? ['--cluster'] : ['--require-control-plane']
    const demo = await startDemo(t, args, { script, env: { ...NOTHING, ...assets }, npm: to === 'npm' })
    await end(demo, () => demo.stop(signal, to === 'its process group'))
    t.notMatch(await demo.ended, { code: 0 })
  })
}

t.test('SIGTERM while Go builds the API server leaves nothing', async (t) => {
  const folder = folderWith(t, ['sh', 'git', 'nice', 'setpriv', 'timeout', 'sleep'])
  const go = await endless(folder, 'go')
  await cp(go, join(folder, 'kubectl'))
  const env = { ...NOTHING, TEST_ASSET_ETCD: undefined, TEST_ASSET_KUBE_APISERVER: undefined }
  const demo = await startDemo(t, ['--cluster'], {
    env: { ...env, PATH: folder, XDG_CACHE_HOME: join(folder, 'cache') },
  })
  await end(demo, () => demo.stop('SIGTERM'))
  t.match(await demo.ended, { code: 1, stderr: /The demo was stopped before its end/ })
})
