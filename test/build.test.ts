import { execFile } from 'node:child_process'
import { copyFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { makeAuthority } from './harness/certificates.ts'
import { startFunction, startWebhook } from './harness/programs.ts'

const ROOT = join(import.meta.dirname, '..')
const DIST = join(ROOT, 'dist')
const run = promisify(execFile)

/** An API server that refuses every connection: both programs start without one. */
const NOWHERE = {
  clusters: [{ name: 'none', cluster: { server: 'https://127.0.0.1:1' } }],
  users: [{ name: 'none', user: { token: 'none' } }],
  contexts: [{ name: 'none', context: { cluster: 'none', user: 'none' } }],
  'current-context': 'none',
}

t.test('npm run build makes two files, each of which Node runs by itself', async (t) => {
  await run(process.execPath, [join(ROOT, 'build.ts')], { cwd: ROOT })
  const files = ['function.cjs', `function.cjs.${process.version}.cache`, 'webhook.cjs']
  t.same((await readdir(DIST)).sort(), files)

  const folder = t.testdir({ kubeconfig: JSON.stringify(NOWHERE) })
  const KUBECONFIG = join(folder, 'kubeconfig')
  const authority = await makeAuthority()
  const { certPEM, keyPEM } = await authority.issue({ names: ['localhost'] })
  const [TLS_CERT_FILE, TLS_KEY_FILE] = [join(folder, 'tls.crt'), join(folder, 'tls.key')]
  await writeFile(TLS_CERT_FILE, certPEM)
  await writeFile(TLS_KEY_FILE, keyPEM)
  const programs = [
    await startFunction({ env: { KUBECONFIG }, built: true }),
    await startWebhook({ env: { KUBECONFIG, TLS_CERT_FILE, TLS_KEY_FILE }, built: true }),
  ]
  for (const program of programs) {
    await program.ready()
    t.equal(await program.stop(), 0)
  }
})

t.test('through the code cache a bundle does the same', async (t) => {
  const folder = t.testdir({ kubeconfig: '' })
  await copyFile(join(DIST, 'function.cjs'), join(folder, 'function.cjs'))
  const args = [join(ROOT, 'boot.cjs'), join(folder, 'function.cjs')]
  const env = { KUBECONFIG: join(folder, 'none') }
  const ending = await run(process.execPath, args, { env }).catch((error: unknown) => error)
  t.match(ending, { code: 1, stderr: /^KUBECONFIG cannot be read, .*\n$/ }, 'without a cache, too')
})
