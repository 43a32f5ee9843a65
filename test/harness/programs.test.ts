import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { accountConfigs } from './accounts.ts'
import { makeAuthority } from './certificates.ts'
import { callWebhook, installCommitlet, WEBHOOK_HOST } from './commitlet.ts'
import { withControlPlane } from './control-plane.ts'
import { startFunction, startWebhook } from './programs.ts'
import { freePort } from './wait.ts'

const folder = await mkdtemp(join(tmpdir(), 'commitlet-programs-'))
t.teardown(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }))
const authority = await makeAuthority()
const { certPEM, keyPEM } = await authority.issue({ names: [WEBHOOK_HOST, 'localhost'] })
const tls = { TLS_CERT_FILE: join(folder, 'tls.crt'), TLS_KEY_FILE: join(folder, 'tls.key') }
await writeFile(tls.TLS_CERT_FILE, certPEM)
await writeFile(tls.TLS_KEY_FILE, keyPEM, { mode: 0o600 })

t.test('a program that does not start reports why', async (t) => {
  const program = await startFunction({ env: { LOG_LEVEL: 'loud' } })
  await t.rejects(program.ready(), {
    message: /The function is not ready. It ended with 1.\nLOG_LEVEL is "loud"/,
  })
  t.equal(await program.stop(), 1)
})

t.test('a program that ignores SIGTERM is killed', async (t) => {
  const program = await startFunction({ env: {} })
  await t.rejects(
    program.waitForLine(() => false, 50),
    /No matching line/,
  )
  process.kill(program.pid, 'SIGSTOP')
  t.equal(await program.stop(200), 'SIGKILL')
})

withControlPlane(t, async (t, plane) => {
  const env = { ...tls, SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' }
  const webhookPort = await freePort()
  const namespace = await plane.createNamespace()

  t.test('without its webhook nothing is admitted', async (t) => {
    await installCommitlet(plane, { webhookPort, authority })
    const refused = await plane.kubectl(['create', '-n', namespace, '-f', '-'], {
      input: commit(),
      allowFailure: true,
    })
    t.match(refused, { code: 1, stderr: /failed calling webhook/ })
  })

  t.test('both programs start, are ready, write their log and end', async (t) => {
    const accounts = await accountConfigs(plane)
    const ofWebhook = { KUBECONFIG: accounts.webhook, PORT: String(webhookPort) }
    const webhook = await startWebhook({ env: { ...env, ...ofWebhook } })
    const functions = await startFunction({ env: { ...env, KUBECONFIG: accounts.function } })
    t.teardown(() => Promise.all([webhook.kill(), functions.kill()]))
    await Promise.all([webhook.ready(), functions.ready()])
    await callWebhook(plane, { webhookPort, authority })
    t.match(JSON.parse(await functions.waitForLine((line) => line.includes('listening'))), {
      part: 'function',
    })
    await plane.kubectl(['create', '-n', namespace, '-f', '-'], { input: commit() })
    const { stdout } = await plane.kubectl(['get', 'gitcommit', '-n', namespace, '-o', 'yaml'])
    t.match(stdout, 'commitlet.dev/requester')
    t.equal(await webhook.stop(), 0)
    await functions.kill()
    t.equal(await functions.stop(), 'SIGKILL')
  })
})

function commit(): string {
  return JSON.stringify({
    apiVersion: 'commitlet.dev/v1',
    kind: 'GitCommit',
    metadata: { name: 'shop' },
    spec: {
      repository: 'https://git.example.com/acme/shop',
      message: 'Save the shop',
      credentials: { secretName: 'git', tokenKey: 'token' },
      resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'shop.yaml' },
    },
  })
}
