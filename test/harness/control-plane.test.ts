import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { findBinaries } from './control-plane-binaries.ts'
import { SHARED, startControlPlane, withControlPlane } from './control-plane.ts'
import { startLeashed } from './leash.ts'
import { waitFor } from './wait.ts'

const scratch = await mkdtemp(join(tmpdir(), 'commitlet-binaries-'))
t.teardown(() => rm(scratch, { recursive: true, force: true, maxRetries: 5 }))
const nowhere = { kubebuilder: join(scratch, 'none'), go: join(scratch, 'none') }

async function program(folder: string, name: string, script = 'exit 0'): Promise<string> {
  await mkdir(join(scratch, folder), { recursive: true })
  const file = join(scratch, folder, name)
  await writeFile(file, `#!/bin/sh\n${script}\n`)
  await chmod(file, 0o755)
  return file
}

await Promise.all(['kube-apiserver', 'etcd', 'kubectl'].map((name) => program('assets', name)))
const unheard = (line: string) => t.fail(line)
const kubectl = await program('tools', 'kubectl')
const tools = join(scratch, 'tools')

t.test('binaries are found as envtest finds them', async (t) => {
  const assets = join(scratch, 'assets')
  const whole = { apiServer: `${assets}/kube-apiserver`, etcd: `${assets}/etcd` }
  const single = { TEST_ASSET_KUBE_APISERVER: kubectl, TEST_ASSET_ETCD: kubectl, TEST_ASSET_KUBECTL: kubectl }
  const rows = [
    ['KUBEBUILDER_ASSETS', { KUBEBUILDER_ASSETS: assets }, { ...whole, kubectl: `${assets}/kubectl` }],
    [
      'kubectl of the PATH',
      { ...single, TEST_ASSET_KUBECTL: '', PATH: tools },
      { apiServer: kubectl, etcd: kubectl, kubectl },
    ],
    ['one by one', { ...single, KUBEBUILDER_ASSETS: assets }, { apiServer: kubectl, etcd: kubectl, kubectl }],
  ] as const
  for (const [what, env, found] of rows) {
    t.same(await findBinaries({ env, say: unheard, system: nowhere }), found, what)
  }
})

t.test('what is missing is named', async (t) => {
  const say = () => undefined
  const cache = join(scratch, 'cache')
  t.match(await findBinaries({ env: {}, say, system: nowhere }), { missing: /no kubectl/ })
  const without = { PATH: tools, XDG_CACHE_HOME: cache }
  t.match(await findBinaries({ env: without, say, system: nowhere }), {
    missing: /set KUBEBUILDER_ASSETS.*no Go/,
  })
  const go = await program('broken', 'go', 'echo "no network" >&2; exit 1')
  const env = { ...without, PATH: `${tools}:${join(go, '..')}` }
  t.match(await findBinaries({ env, say, system: nowhere }), { missing: /Go could not build.*no network/ })
  t.same(await readdir(join(cache, 'commitlet')), [], 'neither a lock nor half a build stays')
})

t.test('two builders at once build once', async (t) => {
  const log = join(scratch, 'builds')
  const script = `for folder; do case $folder in */) break;; esac; done
    echo built >> ${log}; : > "$folder/kube-apiserver"; : > "$folder/server"; chmod +x "$folder"/*; echo pkg >&2`
  await program('go', 'go', script)
  const lines: string[] = []
  const env = { PATH: `${tools}:${join(scratch, 'go')}`, XDG_CACHE_HOME: join(scratch, 'shared') }
  const search = { env, say: (line: string) => lines.push(line), system: nowhere }
  const [one, other] = await Promise.all([findBinaries(search), findBinaries(search)])
  t.same(one, other)
  t.match(one, { apiServer: /control-plane-[0-9a-f]{16}\/kube-apiserver$/, etcd: /server$/, kubectl })
  t.equal(await readFile(log, 'utf8'), 'built\n')
  // Either of the two may report first.
  t.match(lines.toSorted()[0], /^Building kube-apiserver v1\.\d+\.\d+ and etcd, once/)
  t.same(await findBinaries({ ...search, say: unheard }), one, 'and never again')
})

t.test('the lock of a dead builder is taken over', async (t) => {
  const [folder = ''] = await readdir(join(scratch, 'shared', 'commitlet'))
  const env = { PATH: `${tools}:${join(scratch, 'go')}`, XDG_CACHE_HOME: join(scratch, 'crashed') }
  await mkdir(join(scratch, 'crashed', 'commitlet'), { recursive: true })
  await writeFile(join(scratch, 'crashed', 'commitlet', `${folder}.lock`), '999999999')
  t.match(await findBinaries({ env, say: () => undefined, system: nowhere }), { kubectl })
})

t.test('a leashed program ends with its pipe', async (t) => {
  const log = join(scratch, 'leash.log')
  const leashed = startLeashed('/bin/sh', ['-c', 'echo $$; exec sleep 600'], log)
  const pid = Number(
    await waitFor('process id', async () => (await readFile(log, 'utf8')).trim() || undefined, 5000),
  )
  await leashed.stop()
  t.throws(() => process.kill(pid, 0), { code: 'ESRCH' })
})

t.test('a test file without a control plane is skipped, loudly', async (t) => {
  const missing = join(scratch, 'missing.json')
  await writeFile(missing, JSON.stringify({ missing: 'none here' }))
  const script = `import t from 'tap'
    import { withControlPlane } from ${JSON.stringify(join(import.meta.dirname, 'control-plane.ts'))}
    withControlPlane(t, () => { throw new Error('it ran') }, { own: true })`
  const args = ['--input-type=module', '--eval', script]
  const env = { PATH: process.env['PATH'], [SHARED]: missing }
  const ran = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname, env })
  t.match(ran, { stdout: '# { total: 1, pass: 0, skip: 1 }', stderr: 'SKIPPED, no control plane: none here' })
})

withControlPlane(t, (t, plane) => {
  t.test('the admin may do everything and sees the real version', async (t) => {
    const { stdout } = await plane.kubectl(['get', '--raw', '/version'])
    t.match(JSON.parse(stdout), { major: '1', gitVersion: /^v1\.3[2-9]|^v1\.[4-9]\d/ })
    const namespace = await plane.createNamespace()
    await plane.apply(
      `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shop, namespace: ${namespace}}\ndata: {a: b}\n`,
    )
    t.equal(
      (await plane.kubectl(['get', 'configmap/shop', '-n', namespace, '-o=jsonpath={.data.a}'])).stdout,
      'b',
    )
    await t.rejects(plane.kubectl(['get', 'configmap/none', '-n', namespace]), /NotFound/)
  })

  t.test('another user has a name and groups and may do nothing yet', async (t) => {
    const kubeconfig = await plane.kubeconfigFor({ name: 'dev', groups: ['team', 'ops'] })
    const who = await plane.kubectl(['auth', 'whoami', '-o', 'json'], { kubeconfig })
    t.match(JSON.parse(who.stdout), {
      status: { userInfo: { username: 'dev', groups: ['team', 'ops', 'system:authenticated'] } },
    })
    const refused = await plane.kubectl(['get', 'secrets'], { kubeconfig, allowFailure: true })
    t.match(refused, { code: 1, stderr: /Forbidden/ })
  })

  t.test('a service account logs in with only its token and may do nothing yet', async (t) => {
    const namespace = await plane.createNamespace()
    await plane.kubectl(['create', 'serviceaccount', 'robot', '-n', namespace])
    const kubeconfig = await plane.tokenFor('robot', namespace)
    t.notMatch(await readFile(kubeconfig, 'utf8'), /client-certificate|client-key/)
    const who = await plane.kubectl(['auth', 'whoami', '-o', 'jsonpath={.status.userInfo.username}'], {
      kubeconfig,
    })
    t.equal(who.stdout, `system:serviceaccount:${namespace}:robot`)
    const refused = await plane.kubectl(['get', 'secrets', '-n', namespace], {
      kubeconfig,
      allowFailure: true,
    })
    t.match(refused, { code: 1, stderr: /Forbidden/ })
  })

  t.test('a shared control plane outlives the file that uses it', async (t) => {
    const file = join(scratch, 'shared.json')
    await plane.shareIn(file)
    const again = await sharing(file, () => startControlPlane())
    if ('missing' in again) return t.fail(again.missing)
    await again.stop()
    t.equal(again.url, plane.url)
    t.match(await again.kubectl(['get', 'namespaces']), { code: 0 })
    const kubeconfig = await again.kubeconfigFor({ name: 'ben' })
    t.match(await again.kubectl(['auth', 'whoami'], { kubeconfig }), { stdout: /ben/ })
  })
})

async function sharing<T>(file: string, use: () => Promise<T>): Promise<T> {
  const before = process.env[SHARED]
  process.env[SHARED] = file
  try {
    return await use()
  } finally {
    if (before === undefined) Reflect.deleteProperty(process.env, SHARED)
    else process.env[SHARED] = before
  }
}
